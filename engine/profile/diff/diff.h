/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Two tapes at one pace]
 * Two tapes, node by node. Passes are paired by position, separately for each thread that called
 * backward, because two threads have no order. If one tape has more passes than the other, those
 * that did the same are partners (align_streams.h). A first look at each tape finds its passes
 * (diff_tasks.h). Then each pair is aligned and compared, and only what the answer needs is kept.
 *
 * Each tape has one window in memory: diff_side.h. The pairs are taken in the order of A's windows,
 * and for each of them in that of B's. So a window is seldom loaded twice, however threads took
 * turns on the tapes. The answer has the order of A in the end.
 *
 * If the tapes have not as many passes, or both have several threads that called backward, each
 * tape is read once more before. What passes did tells which thread is which, and which pass is
 * missing. */
#pragma once

#include "engine/profile/diff/compare.h"
#include "engine/profile/diff/divergence.h"

/* td_diff_aligned_fn hears of each pair of passes once, in no order. The alignment is valid during
 * the call. If the function returns false, td_diff_make fails with TD_INVALID, "cancelled". */
typedef bool (*td_diff_aligned_fn)(const td_align *align, void *data);

/* What is wanted. Lists are cut to so many items, at least one. The numbers of their items are not
 * cut. */
typedef struct td_diff_wish {
  double tolerance; /* as for td_comparison_begin */
  uint32_t n_nodes, n_values, n_durations;
  bool one_pair;              /* compare nothing but these two passes */
  uint32_t task_a, task_b;    /* graph tasks; the same */
  td_diff_aligned_fn aligned; /* or NULL */
  void *data;
} td_diff_wish;

/* What one of the tapes has. Texts are the tape's. */
typedef struct td_diff_tape {
  const char *engine, *version, *source;
  uint32_t n_tasks;     /* passes with nodes */
  uint64_t n_nodes;     /* that they visited */
  uint32_t *lone_tasks; /* (owned) graph tasks without a partner, in the order of the tape */
  uint32_t n_lone_tasks;
  td_top_list lone_nodes; /* (owned) of td_visited_node, without a partner, by graph task */
} td_diff_tape;

typedef struct td_diff {
  td_diff_tape a, b;
  uint32_t n_pairs, n_equal_pairs; /* passes */
  uint64_t n_paired;               /* nodes */
  uint64_t n_moved, n_reshaped;    /* as in td_align */
  bool equal_order;
  bool diverges;            /* false if the order is equal or whole passes are missing */
  td_divergence divergence; /* of the first pair that differs */
  td_comparison comparison;
} td_diff;

/* td_diff_make reads both tapes, which must outlive the result. TD_OUT_OF_MEMORY, or as
 * td_catalog_collect. If a tape does not have the pass that the wish names: TD_OUT_OF_RANGE. An
 * error names the tape. The thread that owns the tapes. */
td_status td_diff_make(td_tape *a, td_tape *b, const td_diff_wish *wish, td_diff *diff,
                       td_error *error);
void td_diff_fini(td_diff *diff);
