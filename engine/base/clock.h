/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The recording clock. Ticks come from the invariant cycle counter where the processor has one
 * (checked once, while loading), else from CLOCK_MONOTONIC in nanoseconds. Ticks become
 * nanoseconds in the reader, by two pairs (ticks, monotonic ns) taken at the start and end of a
 * recording. Any thread. */
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
 * instructions have finished: good for durations, not for ordering against another thread. */
static inline uint64_t
td_clock_now(void) {
#if defined(__x86_64__)
  if (__builtin_expect(td_clock_has_counter, 1)) return __rdtsc();
#endif
  return td_clock_monotonic_ns();
}

/* td_clock_ordered is td_clock_now after every earlier instruction has finished, a lock's
 * acquisition included. See Note [Stamps under a lock] in engine/events/emit.h. */
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
