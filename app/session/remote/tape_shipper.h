/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ships a growing tape as lines (app/session/remote/relay.h). It goes over the tape again and
 * again: pass by pass. A pass sends what is new. It also sends what was changed, if the first block
 * was: a flight recorder writes there when it cuts the tape. Else only a whole pass finds that. The
 * shipper knows a block that it has sent by a hash. Main thread. */
#pragma once

#include "engine/control/line.h"

#include <glib.h>
#include <stdbool.h>

typedef struct td_tape_shipper td_tape_shipper;

/* td_tape_shipper_new opens the tape. NULL, with errno: it cannot. The tape may get another name
 * later. */
td_tape_shipper *td_tape_shipper_new(const char *path);
void td_tape_shipper_free(td_tape_shipper *shipper);

/* td_tape_shipper_get_size returns how many bytes the tape has now, without holes. */
guint64 td_tape_shipper_get_size(const td_tape_shipper *shipper);

/* td_tape_shipper_follow goes over to the file that took the place of the tape, if one did. The
 * recorder must have ended. */
void td_tape_shipper_follow(td_tape_shipper *shipper);

/* td_tape_shipper_is_due tells whether the tape has changed since the last pass began. */
bool td_tape_shipper_is_due(const td_tape_shipper *shipper);

/* td_tape_shipper_begin begins a pass over the tape as long as it is now. td_tape_shipper_next
 * begins the next line, which the caller finishes, and returns true; or false: the pass is over. */
void td_tape_shipper_begin(td_tape_shipper *shipper, bool is_whole);
bool td_tape_shipper_next(td_tape_shipper *shipper, td_line_text *line);
