/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What differs between aligned nodes beside their order: names, values and durations. Passes are
 * added one after another, in any order. What was found outlives their catalogs. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/diff/compare_values.h"

/* A node whose function ran on both sides. */
typedef struct td_compared_duration {
  td_visited_node a, b;
  uint64_t a_ns, b_ns;
} td_compared_duration;

/* A pair of names that are the same by op_name.h and yet spelled differently. */
typedef struct td_compared_name {
  const char *a, *b; /* (borrowed) from the tapes */
  uint32_t count;
  td_visited_node first; /* of A */
} td_compared_name;

typedef struct td_comparison {
  td_compared_values values;
  td_top_list durations;   /* (owned) of td_compared_duration, those that differ most first */
  uint64_t a_ns, b_ns;     /* sums; a function that calls backward contains the inner pass */
  td_compared_name *names; /* (owned) in the order of A */
  uint32_t n_names, names_capacity;
  struct {
    td_number_map numbers; /* by address: of a text */
    td_text_table texts;   /* each text is read once */
    td_number_map pairs;   /* by both numbers: 1 + the place among the names */
  } known;                 /* (owned) texts of both tapes */
} td_comparison;

/* td_comparison_begin gets the tolerance of values, and how many values and durations are kept. */
void td_comparison_begin(td_comparison *comparison, double tolerance, uint32_t n_values,
                         uint32_t n_durations);

/* td_comparison_add compares all pairs of two passes. td_comparison_end brings what was found into
 * its order. */
void td_comparison_add(td_comparison *comparison, const td_align *align);
void td_comparison_end(td_comparison *comparison);
void td_comparison_fini(td_comparison *comparison);
