/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a tape can be cut. A quiet moment is best: a pass begins, and nothing else is under way. In
 * each stretch of the tape, the calmest moment is noted too, where the least is under way. Private
 * to engine/replay. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/events/event_type.h"

/* Zero-initialise, but for least_events. */
typedef struct td_cut_moments {
  uint64_t least_events;       /* in a segment; the length of a stretch too */
  uint64_t n_passes, n_tasks;  /* under way now; in queues now */
  uint64_t *quiet;             /* (owned) [n_quiet] */
  struct td_calm_moment *calm; /* (owned) [n_calm] by stretch */
  td_number_map declaring;     /* by thread that tells about a node now: 1 + its last event */
  uint64_t n_declaring;        /* such threads */
  size_t n_quiet, quiet_capacity, next_quiet, n_calm, calm_capacity;
} td_cut_moments;

/* td_cut_moments_take looks at the next event of the tape. It tells whether a segment may begin
 * with it. */
bool td_cut_moments_take(td_cut_moments *moments, const td_event *event, uint64_t seq);

/* td_cut_moments_next returns where a segment ends that begins at `first` and is at least so long,
 * or UINT64_MAX. `first` rises from call to call. */
uint64_t td_cut_moments_next(td_cut_moments *moments, uint64_t first, uint64_t wanted);
void td_cut_moments_fini(td_cut_moments *moments);
