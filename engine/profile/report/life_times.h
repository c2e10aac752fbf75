/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The time of the parts of a life on its thread, also outside of a range: what an event takes out
 * of them is decided by all of it. Note [Taken in a range] in range.h. Private to lives.c.
 * Zero-initialise with the life. One thread. */
#pragma once

#include "engine/profile/range.h"
#include "engine/profile/report/life.h"

typedef struct td_life_times {
  td_range_time
      parts[TD_N_LIFE_PARTS]; /* life.parts has what is inside, but for the waits and no_core */
  td_range_time recorder;     /* the same of life.recorder_ns */
} td_life_times;

/* td_life_times_add gives a part more time. */
void td_life_times_add(td_life_times *times, td_life *life, td_life_part part,
                       const td_range_time *time);

/* td_life_times_record says that the recorder took the last ns of a part; n_busy threads share the
 * wall. */
void td_life_times_record(td_life_times *times, td_life *life, td_life_part part, uint64_t ns,
                          uint32_t n_busy);

/* td_life_times_lack says that for so many ns the thread had no core. They are taken from the part
 * in which it is, or TD_N_LIFE_PARTS, then from the recorder, then from the longest others: the
 * stretch may have begun in an earlier part. A thread that waited for a lock hands gradients on. */
void td_life_times_lack(td_life_times *times, td_life *life, td_life_part part, uint64_t ns);
