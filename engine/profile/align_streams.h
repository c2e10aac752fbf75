/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams: the passes that one thread called. Those of two tapes are paired. Private to
 * engine/profile. */
#pragma once

#include "engine/profile/visits.h"

/* td_align_streams_pair calls `pair` with the indices of two tasks, one of each tape, that stand at
 * the same place of paired streams. A stream goes with the first of the other tape that did the
 * same; else with the first that is left. */
void td_align_streams_pair(const td_visits *a, const td_visits *b,
                           void (*pair)(uint32_t task_a, uint32_t task_b, void *data), void *data);
