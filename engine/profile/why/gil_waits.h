/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for Python's global lock that made an event late, and who had it. Private to
 * engine/profile. One thread. */
#pragma once

#include "engine/replay/replay.h"

#include <stdio.h>

/* td_gil_waits_say says, after what `out` has, how long the thread of event seq waited for the GIL.
 * For a pop that is since the push. For a node's begin it is since its pop, for its end since its
 * begin. It says nothing if the thread did not wait, or if the time began too long ago. It moves
 * the replay. */
void td_gil_waits_say(FILE *out, td_replay *replay, uint64_t seq, const td_any_event *event);
