/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A range of a tape's time, and a clock that goes only inside it. Plain data; any thread.
 *
 * Note [Cut at the borders]
 * Somebody asks for a table of a range of time. What begins before the range or ends after it has a
 * part inside, and that part alone must count. So the clock stands still outside of the range, as
 * it does while a live session keeps the program waiting. Everything that adds up differences of
 * this clock is cut at the borders by itself. The sums of ranges that follow one another are those
 * of the whole. A call counts where it begins. */
#pragma once

#include "engine/profile/pauses.h"

/* From from_ns on, and before to_ns. Zero-initialised: all time. */
typedef struct td_range {
  bool is_set;
  uint64_t from_ns, to_ns;
} td_range;

/* td_range_has tells whether a time of the tape is in the range. */
static inline bool
td_range_has(const td_range *range, uint64_t ns) {
  return !range->is_set || (ns >= range->from_ns && ns < range->to_ns);
}

/* td_range_part returns how much of the time between two times of the tape is in the range. */
static inline uint64_t
td_range_part(const td_range *range, uint64_t begin_ns, uint64_t end_ns) {
  uint64_t begin = range->is_set ? TD_MAX(begin_ns, range->from_ns) : begin_ns;
  uint64_t end = range->is_set ? TD_MIN(end_ns, range->to_ns) : end_ns;
  return end - TD_MIN(begin, end);
}

/* Zero-initialise, then set the range before the first event. */
typedef struct td_range_clock {
  td_pauses pauses;
  td_range range;
  uint64_t now; /* time inside the range without pauses, up to the last event */
} td_range_clock;

/* td_range_clock_ns returns when the last event was on the tape. */
static inline uint64_t
td_range_clock_ns(const td_range_clock *self) {
  return self->pauses.now + self->pauses.left_out;
}

/* td_range_clock_take takes the next event of a tape, and returns self->now. A pause comes at the
 * end of the time before its event. */
static inline uint64_t
td_range_clock_take(td_range_clock *self, const td_any_event *event) {
  uint64_t begin = td_range_clock_ns(self), before = self->pauses.now;
  uint64_t passed = td_pauses_take(&self->pauses, event) - before;
  self->now += td_range_part(&self->range, begin, begin + passed);
  return self->now;
}
