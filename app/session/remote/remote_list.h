/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The programs that are being recorded on another machine. Main thread. */
#pragma once

#include "app/session/remote_address.h"

#include <stdio.h>

/* td_remote_list writes the programs that can be opened there. If it cannot, it returns false and
 * sets *problem to the reason (free it). */
bool td_remote_list(const td_remote_address *address, FILE *out, char **problem);
