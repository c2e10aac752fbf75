/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck run --schedule`: the choices of a tape. */
#pragma once

#include "engine/base/status.h"

/* tdpy_schedule_follow has the passes of this process make the choices on a tape again. Before the
 * first pass. TD_INVALID if the tape has none; else as td_tape_open. */
td_status tdpy_schedule_follow(const char *path, td_error *error);
