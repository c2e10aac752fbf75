/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams: the passes that one thread called. Those of two tapes are paired. Private to
 * engine/profile. */
#pragma once

#include "engine/profile/diff/diff_tasks.h"

/* td_align_streams_several tells whether the passes lie on more than one stream. If those of both
 * tapes do, td_align_streams_pair needs their hashes, to tell the streams apart. */
bool td_align_streams_several(const td_diff_tasks *tasks);

/* td_align_streams_pair calls `pair` with the places of two passes, one of each tape, that stand at
 * the same place of paired streams. A stream goes with the first of the other tape that did the
 * same; else with the first that is left. */
void td_align_streams_pair(const td_diff_tasks *a, const td_diff_tasks *b,
                           void (*pair)(uint32_t task_a, uint32_t task_b, void *data), void *data);
