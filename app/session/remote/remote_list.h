/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The programs that are being recorded on another machine. Main thread. */
#pragma once

#include "app/session/remote_address.h"

/* td_remote_list prints the programs that can be opened there, and returns the exit status. */
int td_remote_list(const td_remote_address *address);
