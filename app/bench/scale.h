/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How costs grow with the work: each row of scales.def at four sizes, a factor of ten apart, of
 * small figures a factor of two. Main thread, before the process has other threads: each
 * measurement has a process of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TD_N_SIZES 4

typedef struct td_scale {
  const char *name, *what, *unit, *things;
  uint32_t smallest;

  /* Measures one size. Returns NULL, or why it cannot (owned). */
  char *(*measure)(uint32_t n, double *value);
} td_scale;

/* Of size k: value[k], in the unit of the scale, and the most memory that the process had. */
typedef struct td_scaled {
  uint32_t n[TD_N_SIZES];
  double value[TD_N_SIZES], memory_mb[TD_N_SIZES];
  double exponent, memory_exponent; /* they grow as n to this power */
  char *skipped;                    /* (owned) why there is nothing, or NULL */
} td_scaled;

#define TD_SCALE(name, what, unit, things, smallest)                                               \
  char *td_bench_scale_##name(uint32_t n, double *value);
#include "app/bench/scales.def"
#undef TD_SCALE

/* td_bench_scales returns the table and its length. */
const td_scale *td_bench_scales(unsigned *n);

/* td_bench_scale_measure measures all sizes. The caller frees measured->skipped. */
void td_bench_scale_measure(const td_scale *scale, td_scaled *measured);

/* td_bench_exponent returns the slope of log(value) over log(n) through the three largest sizes, by
 * least squares. At the smallest size, what a process costs anyway hides the growth. */
double td_bench_exponent(const uint32_t n[TD_N_SIZES], const double value[TD_N_SIZES]);
