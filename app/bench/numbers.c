/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of seeing that a gradient is finite, beside the cost of reading it. */
#include "app/bench/figure.h"

#include "engine/base/alloc.h"
#include "engine/base/numbers.h"

#pragma GCC optimize("O3") /* as numbers.c is: loops over elements */

#define N (16 << 20) /* more than caches hold */
#define SMALL_N (16 << 10)
#define ROUNDS 20

/* The least that a look can cost: it reads every word and only adds them up. */
static uint64_t
read_all(const uint64_t *words, size_t n) {
  uint64_t sums[8] = {0};
  for (size_t i = 0; i < n; i += 8)
    for (int lane = 0; lane < 8; lane++)
      sums[lane] += words[i + lane];
  return sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
}

void
td_bench_look_finite(td_measured *measured) {
  uint32_t n = td_bench_size(N, SMALL_N);
  float *values = TD_NEW_N(float, n);
  int64_t size = n, stride = 1;
  td_numbers numbers = {values, TD_NUMBER_FLOAT32, 1, &size, &stride};
  uint64_t seen = 0;
  double best;
  for (uint32_t i = 0; i < n; i++)
    values[i] = (float)i;
  TD_BEST_OF(ROUNDS, best, seen |= read_all((const uint64_t *)(void *)values, n / 2));
  measured->floor_value = best * 1e3;
  TD_BEST_OF(ROUNDS, best, seen |= td_numbers_look(&numbers));
  measured->value = best * 1e3;
  __asm__ volatile("" : : "r"(seen) : "memory");
  free(values);
}
