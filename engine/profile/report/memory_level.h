/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much memory is held, over time and over steps, in bounded room. One thread. */
#pragma once

#include "engine/profile/report/holdings.h"

typedef struct td_memory_level {
  uint64_t bytes[TD_N_HOLDING_GROUPS];
} td_memory_level;

static inline uint64_t
td_memory_total(const td_memory_level *level) {
  uint64_t total = 0;
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++)
    total += level->bytes[group];
  return total;
}

/* ---- over time ---- */

#define TD_MEMORY_SAMPLES 512

/* Of each interval, the moment with the most memory. Zero-initialise. */
typedef struct td_memory_samples {
  uint64_t begin_ns, interval_ns; /* sample i is of interval i from begin_ns on */
  uint64_t end_ns;                /* of the last sample */
  uint32_t n;
  td_memory_level items[TD_MEMORY_SAMPLES];
  td_memory_level last; /* level after the latest time */
} td_memory_samples;

/* td_memory_samples_add says that the level is so from now on. Times do not fall. */
void td_memory_samples_add(td_memory_samples *samples, uint64_t now, const td_memory_level *level);

/* ---- over steps ---- */

#define TD_MEMORY_STEPS 1024

typedef struct td_memory_step {
  uint32_t number; /* iteration, or graph task */
  uint64_t seq;    /* event with which it ended */
  uint64_t ns;
  uint64_t peak; /* bytes, since the row before */
  td_memory_level end;
  uint64_t n_nodes; /* that are not freed at its end */
} td_memory_step;

/* Sums for a line through the steps from the second one on. */
typedef struct td_memory_line {
  double n, x, y, xx, xy;
} td_memory_line;

/* Zero-initialise. */
typedef struct td_memory_steps {
  td_memory_step rows[TD_MEMORY_STEPS];
  uint32_t n_rows;
  uint64_t n, n_per_row; /* steps */
  uint64_t peak;         /* since the last row */
  td_memory_line lines[TD_N_HOLDING_GROUPS], nodes;
} td_memory_steps;

/* td_memory_steps_end says that a step is over. `peak` is 0, and set by the steps. */
void td_memory_steps_end(td_memory_steps *steps, td_memory_step step);

/* td_memory_steps_growth returns by how many bytes a step adds to a group, in the line of least
 * squares; false if fewer than three steps tell. */
bool td_memory_steps_growth(const td_memory_steps *steps, td_holding_group group, double *bytes);

/* td_memory_steps_more_nodes does so with the number of nodes that are not freed. */
bool td_memory_steps_more_nodes(const td_memory_steps *steps, double *nodes);
