/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Durations by row, for their percentiles. Zero-initialise. One thread at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct td_sample {
  uint32_t row;
  uint64_t ns;
} td_sample;

typedef struct td_samples {
  td_sample *items; /* (owned) */
  size_t n, capacity;
} td_samples;

/* Of the durations of one row, in ns. All are 0 if it has none. */
typedef struct td_spread {
  uint64_t n, sum, p25, p50, p75, p95, max;
} td_spread;

void td_samples_add(td_samples *samples, uint32_t row, uint64_t ns);

/* td_samples_sort puts the rows in their order. After it, td_samples_take returns the spread of a
 * row: of the rows one after another, with *at = 0 for the first call. Percentiles are by nearest
 * rank. */
void td_samples_sort(td_samples *samples);
td_spread td_samples_take(const td_samples *samples, size_t *at, uint32_t row);

void td_samples_fini(td_samples *samples);
