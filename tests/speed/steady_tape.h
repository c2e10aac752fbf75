/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tapes that have the same bytes each time: the events of a plan, at times of their own in place of
 * a clock's. Main thread only. */
#pragma once

#include "tests/fixtures/tape_maker.h"

/* td_steady_tape_make writes the tape of a plan, as td_tape_make does. It has no table of contents.
 */
td_status td_steady_tape_make(const td_tape_plan *plan, const char *path, td_error *error);
