/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two tapes, node by node. Graph tasks are paired by position, separately for each thread that
 * called backward, because two threads have no order. Nodes of a pair are paired by structure
 * (pairing.h), so that a tape of Tapedeck's engine aligns with one of PyTorch's.
 *
 * A lane is a device within a graph task. The alignment compares the order in which a lane's nodes
 * were popped. The engine orders a queue; what happens on two queues at once is chance. */
#pragma once

#include "engine/profile/visits.h"

typedef struct td_align_pair {
  uint32_t task_a, task_b; /* indices into a.tasks and b.tasks */
  bool equal;              /* the same nodes in the same order on every lane */
} td_align_pair;

/* The first place where a lane's order differs. A visit is TD_NONE if that side has no more. */
typedef struct td_align_divergence {
  uint32_t pair;
  int32_t lane;
  uint32_t position; /* in the lane, from 0 */
  uint32_t a, b;     /* visits */
} td_align_divergence;

typedef struct td_align {
  td_visits a, b;
  uint32_t *partners_a, *partners_b; /* (owned) by visit: the visit on the other side, or TD_NONE */
  td_align_pair *pairs;              /* (owned) in the order of a's tasks */
  uint32_t n_pairs;
  uint32_t n_paired, n_only_a, n_only_b; /* visits */
  uint32_t
      n_moved; /* paired visits outside the longest run that kept its order, or on another lane */
  uint32_t n_reshaped; /* paired visits whose nodes expect gradients of another shape or dtype */
  bool equal_order;
  bool diverges; /* `divergence` is set; false if the order is equal or whole tasks are missing */
  td_align_divergence divergence;
} td_align;

/* td_align_tapes reads both tapes and aligns them. The catalogs must outlive the alignment. It
 * takes linear time if the passes are alike, else n log n and the time for what was added or
 * removed. An error names the tape. */
td_status td_align_tapes(td_tape *a, const td_catalog *graph_a, td_tape *b,
                         const td_catalog *graph_b, td_align *align, td_error *error);
void td_align_fini(td_align *align);
