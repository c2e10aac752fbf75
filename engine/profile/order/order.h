/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order in which the nodes of outermost passes were popped, beside the predicted one: Note
 * [Predicted order] in order_predict.h. Nodes of passes inside count as the outer pass's. Each
 * queue has an order of its own: which of two threads is first is nobody's rule. The thread that
 * owns the tape. */
#pragma once

#include "engine/profile/order/order_pass.h"
#include "engine/trace/tape.h"

typedef struct td_order_wish {
  uint32_t graph_task;  /* of the only outermost pass, or TD_NONE */
  bool keeps_nodes;     /* the lists of all nodes */
  uint32_t n_explained; /* so many divergences get their cause */
} td_order_wish;

typedef struct td_order {
  td_order_pass *passes; /* (owned) those that differ, and with keeps_nodes all, as they ended */
  uint32_t n_passes, n_kept, capacity, n_equal, n_early; /* early: ended before the last node */
  bool is_observed;                                      /* else the pops are reconstructed */
} td_order;

/* td_order_make reads the tape once. TD_UNSUPPORTED if the tape has no pops; TD_OUT_OF_RANGE if it
 * has no such pass; else as td_catalog_visit. The caller calls td_order_fini in all cases. */
td_status td_order_make(td_tape *tape, const td_order_wish *wish, td_order *order, td_error *error);
void td_order_fini(td_order *order);
