/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Measures how long the main loop is away from its events. An iteration lasts from the end of one
 * poll to the begin of the next: meanwhile no key and no frame comes through. Main thread. */
#pragma once

typedef struct td_iterations {
  double longest_ms;   /* wall time */
  double processor_ms; /* the most processor time of the main thread in one of them */
  double sum_ms;       /* the processor time of all */
  unsigned n, n_over;  /* how many; how many took more processor time than the limit */
} td_iterations;

/* An iteration that takes longer than this, somebody feels. */
#define TD_ITERATION_LIMIT_MS 50

/* td_iterations_watch begins to measure the default main context, for as long as the process
 * lives. */
void td_iterations_watch(void);

/* td_iterations_take returns what was measured since the last call. The iteration that calls
 * belongs to the next. */
td_iterations td_iterations_take(void);
