/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the recorder itself takes of the program's time. Work that may take long is timed each time,
 * and is an event if it took 10 us or more: recorder_took. Work that is short and frequent is timed
 * now and then.
 *
 * Note [A budget of the recorder]
 * Outside of passes, the recorder looks for what cuts leaves off, for the modules that make nodes,
 * and for names of leaves. A tape without these is still good. Together they may take 5 % of the
 * processor time that the process has used since the recording was wanted, or 50 ms. If they take
 * more, the costliest of them stops for good, and `recorder_stopped` says so.
 * What the user asked for by an option never stops, nor does what makes a tape whole.
 *
 * Any thread. */
#pragma once

#include "engine/events/event.h"
#include "engine/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* td_own_begin and td_own_end are around work that may take long. Work may lie inside other work:
 * then it counts once, as the inner one. The end holds no lock that emitting may want. */
typedef struct td_own_time {
  uint64_t begin, inside; /* ticks; of this thread's work, counted until then */
} td_own_time;

TD_PROBE_API td_own_time td_own_begin(void);
TD_PROBE_API void td_own_end(td_own_time since, td_recorder_work work);

/* td_own_sample is td_own_begin for short work, of which it times one call in 64: else it returns a
 * begin of 0. td_own_sampled ends it. `around_ns` is about what each call costs outside. */
TD_PROBE_API td_own_time td_own_sample(void);
TD_PROBE_API void td_own_sampled(td_own_time since, td_recorder_work work, uint64_t around_ns);

/* td_own_wants returns false if the budget has stopped this work. One load. */
extern TD_PROBE_API uint32_t td_own_stopped; /* for td_own_wants alone */

static inline bool
td_own_wants(td_recorder_work work) {
  return !(__atomic_load_n(&td_own_stopped, __ATOMIC_RELAXED) >> work & 1);
}

/* td_own_stop stops work that may stop. Its caller knows that it takes too much. */
TD_PROBE_API void td_own_stop(td_recorder_work work);

/* td_own_start begins to count anew: a recording will be wanted. td_own_tell says at the beginning
 * of a tape that this work is timed, and what was stopped before. */
void td_own_start(void);
TD_PROBE_API void td_own_tell(void);

#ifdef __cplusplus
}
#endif
