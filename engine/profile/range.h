/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A range of a tape's time, and a clock that goes only inside it. Plain data; any thread.
 *
 * Note [Cut at the borders]
 * Somebody asks for a table of a range of time. What begins before the range or ends after it has a
 * part inside, and that part alone must count. So the clock stands still outside of the range, as
 * it does while a live session keeps the program waiting. Everything that adds up differences of
 * this clock is cut at the borders by itself. The sums of ranges that follow one another are those
 * of the whole. A call counts where it begins.
 *
 * Note [Taken in a range]
 * Problem: an event says that for so many ns of what went before, a thread did something else. If a
 * border cuts that time, it is not known on which side of it they were. A range that takes them out
 * of its own part takes too much or too little, and ranges add up to something else than the whole.
 *
 * Trick: a td_range_time knows all of the time, and what of it was before and in the range. How
 * much is taken is decided by all of it, so each range decides the same. What is taken in
 * proportion is so much of the time before each border; what is taken at the end is what comes
 * last. A range has the difference between its borders, and the next one begins with the same
 * border: so ranges add up to the whole, to the nanosecond. */
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

/* How long something took, on all the tape: ns before the range, in it, and all. A range that is
 * not set has all. */
typedef struct td_range_time {
  uint64_t before, inside, all;
} td_range_time;

static inline td_range_time
td_range_time_since(const td_range_time *begin, const td_range_time *end) {
  return (td_range_time){end->before - begin->before, end->inside - begin->inside,
                         end->all - begin->all};
}

static inline void
td_range_time_add(td_range_time *self, const td_range_time *other) {
  self->before += other->before;
  self->inside += other->inside;
  self->all += other->all;
}

static inline void
td_range_time_remove(td_range_time *self, const td_range_time *other) {
  *self = td_range_time_since(other, self);
}

/* td_range_share returns `ns` * `time` / `all`, of which `all` is the greatest and not 0. */
uint64_t td_range_share(uint64_t time, uint64_t ns, uint64_t all);

/* td_range_time_share returns `ns` of all of a time, at most that, from everywhere in it alike:
 * Note [Taken in a range]. td_range_time_last returns the last `ns` of it. */
td_range_time td_range_time_share(const td_range_time *time, uint64_t ns);
td_range_time td_range_time_last(const td_range_time *time, uint64_t ns);

/* Zero-initialise, then set the range before the first event. */
typedef struct td_range_clock {
  td_pauses pauses;
  td_range range;
  uint64_t before, now; /* time before and inside the range without pauses, up to the last event */
} td_range_clock;

/* td_range_clock_time returns how long the tape has taken up to the last event. */
static inline td_range_time
td_range_clock_time(const td_range_clock *self) {
  return (td_range_time){self->before, self->now, self->pauses.now};
}

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
  if (self->range.is_set && begin < self->range.from_ns)
    self->before += TD_MIN(passed, self->range.from_ns - begin);
  return self->now;
}
