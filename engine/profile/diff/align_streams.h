/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams: the passes that one thread called. Those of two tapes are paired. Private to
 * engine/profile. */
#pragma once

#include "engine/profile/diff/diff_tasks.h"

/* td_align_streams_need_hashes tells whether td_align_streams_pair needs the hashes of the passes:
 * to tell streams apart, if both tapes have several, and to see which pass one tape alone has. */
bool td_align_streams_need_hashes(const td_diff_tasks *a, const td_diff_tasks *b);

/* td_align_streams_pair calls `pair` with the places of two passes, one of each tape, of paired
 * streams. A stream goes with the first of the other tape that did the same; else with the first
 * that is left. If paired streams have as many passes, the passes stand at the same place. Else
 * passes that did the same are partners, as far as they have the same order, and those between them
 * are paired in their order. TD_OUT_OF_MEMORY. */
td_status td_align_streams_pair(const td_diff_tasks *a, const td_diff_tasks *b,
                                void (*pair)(uint32_t task_a, uint32_t task_b, void *data),
                                void *data);
