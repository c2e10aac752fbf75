/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck report --contention` prints, on standard output. */
#pragma once

#include "engine/profile/report/contention.h"

void td_contention_print_json(const td_contention *contention);
void td_contention_print_text(const char *path, const td_contention *contention);
