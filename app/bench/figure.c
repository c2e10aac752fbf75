/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/figure.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <time.h>

static bool is_small;

void
td_bench_choose_small(void) {
  is_small = true;
}

bool
td_bench_is_small(void) {
  return is_small;
}

uint32_t
td_bench_size(uint32_t n, uint32_t small) {
  return is_small ? small : n;
}

double
td_bench_now(void) {
  return (double)td_clock_monotonic_ns() / 1e9;
}

double
td_bench_processor_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double
td_bench_p99(double *values, unsigned n) {
  qsort(values, n, sizeof *values, compare_doubles);
  return values[n * 99 / 100];
}
