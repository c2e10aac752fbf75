/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A scheduler other than the engine's own: where ready tasks wait, and what happens to the
 * gradients that a node returns. The rest of a pass is the engine's. Set while no pass runs; its
 * functions are called by the thread that runs the pass. */
#pragma once

#include "engine/events/event.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/pass/execute_options.h"
#include "engine/torch/tensor/tensor.h"

typedef struct td_scheduler {
  const char *name;
  td_queue_order order; /* of the ready queue that each pass has for itself */

  /* enter refuses before a pass what the scheduler does not know: TD_UNSUPPORTED. If it succeeds,
   * leave follows on the same thread when the pass is over. */
  td_status (*enter)(const td_execute_options *options, uint32_t n_roots, td_error *error);
  void (*leave)(void);

  /* prepare makes scheduler_data of a graph task whose nodes were visited, and free drops them
   * (NULL is fine). TD_UNSUPPORTED for nodes that the scheduler cannot run. */
  td_status (*prepare)(td_graph_task *graph_task, td_error *error);
  void (*free)(void *scheduler_data);

  /* scatter hands a node's outputs (taken) to the nodes below. */
  td_status (*scatter)(td_graph_task *graph_task, td_node *node, td_tensor **outputs,
                       td_error *error);
} td_scheduler;

/* What passes run under from now on; NULL, at first: the engine's own. */
extern const td_scheduler *td_scheduler_now;
