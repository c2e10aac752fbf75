/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two backward passes, node by node. Nodes are paired by structure (pairing.h), so that a tape of
 * Tapedeck's engine aligns with one of PyTorch's.
 *
 * A lane is a device within a graph task. The alignment compares the order in which a lane's nodes
 * were popped. The engine orders a queue; what happens on two queues at once is chance. */
#pragma once

#include "engine/profile/diff/diff_side.h"

/* The first place where a lane's order differs. A visit is TD_NONE if that side has no more. */
typedef struct td_align_divergence {
  int32_t lane;
  uint32_t position; /* in the lane, from 0 */
  uint32_t a, b;     /* visits */
} td_align_divergence;

typedef struct td_align {
  const td_visits *a, *b;                  /* (borrowed) */
  td_visit_task task_a, task_b;            /* the visits of the two passes */
  const uint32_t *partners_a, *partners_b; /* (borrowed) by visit: that of the other, or TD_NONE */
  uint32_t n_paired, n_moved; /* moved: outside the longest run that kept its order, or on another
                                 lane */
  uint32_t n_reshaped;        /* pairs that expect gradients of another shape or dtype */
  bool equal;                 /* the same nodes in the same order on every lane */
  td_align_divergence divergence; /* valid unless equal */
} td_align;

/* td_align_passes aligns two passes whose windows are in memory. The result is valid until one of
 * the sides loads another. It takes linear time if the passes are alike, else n log n and the time
 * for what was added or removed. TD_OUT_OF_MEMORY. */
td_status td_align_passes(td_diff_side *a, uint32_t graph_task_a, td_diff_side *b,
                          uint32_t graph_task_b, td_align *align);
