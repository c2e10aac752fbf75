/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Figures: what `tapedeck bench` measures. Each stands beside a floor or a peer from the same
 * run. A figure is one line in figures.def and one function. Main thread; the machine should
 * have nothing else to do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The quartiles of the ratios of rounds. The rounds of the two sides took turns. */
typedef struct td_spread {
  unsigned n_rounds;
  double low, median, high;
} td_spread;

/* The result of a measurement. `skipped` says why there is none (owned); the other fields mean
 * nothing then. */
typedef struct td_measured {
  double value, floor_value;
  td_spread spread; /* n_rounds 0: not known */
  char *skipped;
} td_measured;

/* How a figure is compared with its bounds. */
typedef enum td_judged_by {
  TD_BY_VALUE,    /* value <= must */
  TD_BY_RATIO,    /* value / floor_value <= must */
  TD_BY_INCREASE, /* value - floor_value <= must; the ratio is printed too */
  TD_AS_PEER,     /* not at all: the cost of others, to compare with */
} td_judged_by;

typedef struct td_figure {
  const char *name, *what, *unit, *floor; /* floor: what floor_value is of, or NULL */
  td_judged_by judged_by;
  double must, aim;
  void (*measure)(td_measured *measured);
} td_figure;

#define TD_FIGURE(name, what, unit, floor, judged_by, must, aim)                                   \
  void td_bench_##name(td_measured *measured);
#include "app/bench/figures.def"
#undef TD_FIGURE

/* td_bench_choose_small makes all figures small from now on: they run as ever, in moments, and say
 * nothing of speed. td_bench_is_small tells whether it was called. */
void td_bench_choose_small(void);
bool td_bench_is_small(void);

/* td_bench_size returns how much work a figure wants: n, or `small` if figures are small. */
uint32_t td_bench_size(uint32_t n, uint32_t small);

/* td_bench_now returns monotonic seconds, td_bench_processor_now those of this thread's processor
 * time. */
double td_bench_now(void);
double td_bench_processor_now(void);

/* td_bench_p99 sorts the values and returns their 99th percentile. */
double td_bench_p99(double *values, unsigned n);

/* TD_BEST_OF runs a statement `times` times. It sets `best` to the least duration in seconds. On
 * a shared machine the least is the cost of the code; the rest is due to other programs. */
#define TD_BEST_OF(times, best, statement)                                                         \
  do {                                                                                             \
    (best) = 1e30;                                                                                 \
    for (uint32_t round_ = 0; round_ < (times); round_++) {                                        \
      double begin_ = td_bench_now();                                                              \
      statement;                                                                                   \
      double took_ = td_bench_now() - begin_;                                                      \
      if (took_ < (best)) (best) = took_;                                                          \
    }                                                                                              \
  } while (0)
