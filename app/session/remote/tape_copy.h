/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The copy of a tape that a relay sends: the other end of app/session/remote/tape_shipper.h. It
 * believes nothing: a line writes inside the copy or at its end, or not at all. Main thread. */
#pragma once

#include "engine/control/line.h"

#include <glib.h>

typedef struct td_tape_copy td_tape_copy;

/* td_tape_copy_new makes the file, which must not exist. NULL, with errno: it cannot. */
td_tape_copy *td_tape_copy_new(const char *path);
void td_tape_copy_free(td_tape_copy *copy);

/* td_tape_copy_is_part tells whether a line is about the bytes of the tape. td_tape_copy_take
 * writes them. If it cannot, it returns false and sets *problem to the reason (free it). */
bool td_tape_copy_is_part(const td_line *line);
bool td_tape_copy_take(td_tape_copy *copy, const td_line *line, char **problem);
