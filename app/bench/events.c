/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one event costs. */
#include "app/bench/figure.h"
#include "app/bench/recording.h"

#include "engine/base/alloc.h"
#include "engine/base/clock.h"

/* Events in a burst: less than a ring holds. */
#define BURST 100000
#define ROUNDS 40

/* Keeps the compiler from seeing through a loop. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value) : : "memory")

typedef void (*burst)(void);

static double
ns_per_event(burst run) {
  double best;
  TD_BEST_OF(td_bench_size(ROUNDS, 2), best, run());
  return best / BURST * 1e9;
}

static void
clock_reads(void) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < BURST; i++)
    sum += td_clock_now();
  OPAQUE(sum);
}

static void
own_times(void) {
  for (uint32_t i = 0; i < BURST; i++)
    TD_EMIT(outstanding, .graph_task = 0, .value = i);
}

static void
borrowed_times(void) {
  for (uint32_t i = 0; i < BURST; i++)
    TD_EMIT_BORROWED(outstanding, .graph_task = 0, .value = i);
}

static void
empty_loop(void) {
  for (uint32_t i = 0; i < BURST; i++)
    OPAQUE(i);
}

static void
disabled_events(void) {
  for (uint32_t i = 0; i < BURST; i++) {
    OPAQUE(i);
    TD_EMIT(outstanding, .graph_task = 0, .value = i);
  }
}

static void
stores(void) {
  static struct { uint64_t first, second; } ring[4096];
  for (uint32_t i = 0; i < BURST; i++) {
    void *slot = &ring[i & 4095];
    ring[i & 4095].first = i;
    ring[i & 4095].second = i;
    OPAQUE(slot);
  }
}

/* The ring takes ROUNDS bursts, if each waits until the recorder has emptied it. */
static void
measure_recording(td_measured *measured, burst run, burst floor) {
  measured->floor_value = ns_per_event(floor);
  td_bench_recording recording = {0};
  measured->skipped = td_bench_record_begin(&recording);
  if (measured->skipped) return;
  measured->value = ns_per_event(run);
  measured->skipped = td_bench_record_end(&recording);
  td_bench_record_remove(&recording);
}

void
td_bench_record_event(td_measured *measured) {
  measure_recording(measured, own_times, clock_reads);
}

void
td_bench_record_event_borrowed(td_measured *measured) {
  measure_recording(measured, borrowed_times, stores);
}

void
td_bench_record_disabled(td_measured *measured) {
  measured->floor_value = ns_per_event(empty_loop);
  measured->value = ns_per_event(disabled_events);
}
