/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers of PyTorch's first engines, in place of the engine's own: `tapedeck run
 * --scheduler 2017` and `2017-fifo`. The same graph, the same events, but
 *
 *   2017       (October 2016) ready nodes are a stack. A node's dependencies are a Counter per
 * output of its forward function: consumer -> uses; it is ready when all are empty. Gradients are
 * kept by reference and added to in place, also where somebody else holds them: the aliasing
 * defect. Nothing is ever released. 2017-fifo  (its successor) ready nodes are a first-in,
 * first-out queue, dependencies a number per node, and a kept gradient is copied before the first
 * addition.
 *
 * Either belongs to one thread at a time and knows one root, leaves as the only place of results,
 * and the CPU. What it does not know it refuses (td_scheduler_2017_enter). Source: seed 004. */
#pragma once

#include "engine/pass/graph_task.h"

typedef enum td_scheduler {
  TD_SCHEDULER_ENGINE,
  TD_SCHEDULER_2017,
  TD_SCHEDULER_2017_FIFO
} td_scheduler;

/* td_scheduler_set takes "engine" (the default), "2017" or "2017-fifo": not while a pass runs.
 * TD_INVALID for all else. td_scheduler_now is read by the engine alone. */
td_status td_scheduler_set(const char *name, td_error *error);
const char *td_scheduler_get(void);
extern td_scheduler td_scheduler_now;

/* td_scheduler_2017_enter says before a pass what this scheduler does not know: TD_UNSUPPORTED.
 * Where it succeeds, td_scheduler_2017_leave follows on the same thread when the pass is over. */
td_status td_scheduler_2017_enter(const td_execute_options *options, uint32_t n_roots,
                                  td_error *error);
void td_scheduler_2017_leave(void);

/* td_scheduler_2017_prepare reads a pass's dependencies into the scheduler's own form, graph_task->
 * scheduler_2017, from the nodes that were visited. TD_UNSUPPORTED for nodes that it cannot run. */
td_status td_scheduler_2017_prepare(td_graph_task *graph_task, td_error *error);
void td_scheduler_2017_free(td_scheduler_2017 *self); /* NULL is fine */

/* td_scheduler_2017_queue returns a new ready structure of the pass's own. */
td_ready_queue *td_scheduler_2017_queue(void);

/* td_scheduler_2017_scatter hands a node's outputs (taken) to the nodes below. TD_ASSERTION where
 * the original asserts, TD_AUTOGRAD with its text. Called by the thread that runs the pass. */
td_status td_scheduler_2017_scatter(td_graph_task *graph_task, td_node *node, td_tensor **outputs,
                                    td_error *error);

/* td_scheduler_2017_each calls back for every use that is still counted: `uses` times `consumer`
 * takes the output of that number. In the order of visit; the caller's thread runs the pass. */
typedef void td_use_callback(td_node *node, uint32_t output_nr, td_node *consumer, uint32_t uses,
                             void *data);
void td_scheduler_2017_each(const td_graph_task *graph_task, td_use_callback *callback, void *data);
