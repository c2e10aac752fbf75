/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The recording clock. If the processor has an invariant cycle counter, ticks are its cycles. Else
 * ticks are nanoseconds of CLOCK_MONOTONIC. The choice is made once, while loading. The recorder
 * takes a pair (ticks, monotonic ns) at the start and at the end of a recording. From the two pairs
 * the reader turns ticks into nanoseconds. Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
extern bool td_clock_has_counter; /* set while loading, constant afterwards */
#ifdef __cplusplus
}
#endif

static inline uint64_t
td_clock_timespec_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t
td_clock_monotonic_ns(void) {
  return td_clock_timespec_ns(CLOCK_MONOTONIC);
}

/* td_clock_now returns ticks. The processor may read the counter a little before earlier
 * instructions have finished. So the ticks are good for durations, and not for an order between
 * threads. */
static inline uint64_t
td_clock_now(void) {
#if defined(__x86_64__)
  if (__builtin_expect(td_clock_has_counter, 1)) return __rdtsc();
#endif
  return td_clock_monotonic_ns();
}

/* td_clock_ordered returns ticks after every earlier instruction has finished, such as the
 * acquisition of a lock. See Note [Stamps under a lock] in engine/events/emit.h. */
static inline uint64_t
td_clock_ordered(void) {
#if defined(__x86_64__)
  if (__builtin_expect(td_clock_has_counter, 1)) {
    _mm_lfence();
    return __rdtsc();
  }
#endif
  return td_clock_monotonic_ns();
}
