/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What differs between aligned nodes beside their order: names, values and durations. Any thread.
 */
#pragma once

#include "engine/profile/align.h"

/* A value of one node that differs. `field` is "anomaly", or a field of tensor_stats. Where one
 * side has no such anomaly, its index is TD_NONE. */
typedef struct td_align_value {
  uint32_t visit_a, visit_b;
  uint32_t value_a, value_b; /* indices into a.values and b.values */
  const char *field;
  double a, b; /* of a field of tensor_stats */
} td_align_value;

typedef struct td_align_values {
  td_align_value *items; /* (owned) in the order of A */
  uint32_t n, capacity;
  uint64_t n_compared; /* anomalies and tensor_stats looked at */
} td_align_values;

/* td_align_values_collect compares anomalies, and tensor_stats where both tapes have them. Counts
 * must be equal; numbers may differ by `tolerance` times the greatest magnitude among min, max and
 * the numbers themselves. Two NaNs are equal. */
void td_align_values_collect(const td_align *align, double tolerance, td_align_values *values);
void td_align_values_fini(td_align_values *values);

/* Nodes whose functions ran on both sides, those that differ most first. */
typedef struct td_align_durations {
  uint32_t *visits; /* (owned) of A, by the difference in time */
  uint32_t n;
  uint64_t a_ns, b_ns; /* sums; a function that calls backward contains the inner pass */
} td_align_durations;

td_status td_align_durations_collect(const td_align *align, td_align_durations *durations);
void td_align_durations_fini(td_align_durations *durations);

/* td_visit_ns returns how long a visit's function took. */
uint64_t td_visit_ns(const td_visit *visit);

/* A pair of names that are the same by op_name.h and yet spelled differently. */
typedef struct td_align_name {
  const char *a, *b; /* (borrowed) from the tapes */
  uint32_t count;
} td_align_name;

typedef struct td_align_names {
  td_align_name *items; /* (owned) as met */
  uint32_t n, capacity;
} td_align_names;

void td_align_names_collect(const td_align *align, td_align_names *names);
void td_align_names_fini(td_align_names *names);
