/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values of gradients on two tapes. One thread. */
#pragma once

#include "engine/base/top_list.h"
#include "engine/profile/diff/align.h"

/* A value of one node that differs. An anomaly that only one side has has an event there alone. */
typedef struct td_compared_value {
  td_visited_node a, b;
  uint64_t event_a, event_b; /* numbers; UINT64_MAX: none */
  const char *anomaly;       /* "nan" or "inf"; NULL: a field of tensor_stats differs */
  const char *field;         /* "anomaly", or that field */
  const char *place;         /* birthplace or stats_place */
  uint32_t number;           /* and which of the values there */
  double number_a, number_b; /* of the field */
  uint64_t order;            /* among those of its node */
} td_compared_value;

/* Those of the passes compared so far. */
typedef struct td_compared_values {
  double tolerance;    /* how far numbers may differ, as a share of the greatest magnitude */
  td_top_list list;    /* (owned) of td_compared_value, in the order of A */
  uint64_t n_compared; /* anomalies and tensor_stats looked at */
} td_compared_values;

/* td_compared_values_begin gets how many of them are kept. */
void td_compared_values_begin(td_compared_values *values, double tolerance, uint32_t limit);

/* td_compared_values_add compares anomalies, and tensor_stats where both tapes have them. Counts
 * must be equal. The greatest magnitude is that among min, max and the two numbers. Two NaNs are
 * equal. Gradients that one engine shows before a sum, and another one after it, are left out. */
void td_compared_values_add(td_compared_values *values, const td_align *align);
