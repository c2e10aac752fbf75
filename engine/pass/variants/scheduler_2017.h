/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers of PyTorch's first engines, in place of the engine's own: `tapedeck run
 * --scheduler 2017` and `2017-fifo`. The graph and the events are the same. The differences:
 *
 * - 2017 (October 2016): ready nodes are a stack. A node's dependencies are a Counter per output of
 *   its forward function: consumer -> uses. A node is ready if all its Counters are empty. It keeps
 *   gradients by reference and adds to them in place, even if somebody else holds them: the
 *   aliasing defect. It releases nothing.
 * - 2017-fifo (its successor): ready nodes are a first-in, first-out queue. Dependencies are a
 *   number per node. It copies a kept gradient before the first addition.
 *
 * Either belongs to one thread at a time, and knows one root and the CPU only. Results go to
 * leaves alone. It refuses the rest (td_scheduler_2017_enter). Source: seed 004. */
#pragma once

#include "engine/pass/graph_task.h"

typedef enum td_scheduler {
  TD_SCHEDULER_ENGINE,
  TD_SCHEDULER_2017,
  TD_SCHEDULER_2017_FIFO
} td_scheduler;

/* td_scheduler_set takes "engine" (the default), "2017" or "2017-fifo", and not while a pass
 * runs. TD_INVALID for other names. Only the engine reads td_scheduler_now. */
td_status td_scheduler_set(const char *name, td_error *error);
const char *td_scheduler_get(void);
extern td_scheduler td_scheduler_now;

/* td_scheduler_2017_enter checks before a pass that this scheduler can run it. TD_UNSUPPORTED
 * says what it cannot do. If it succeeds, call td_scheduler_2017_leave on the same thread after
 * the pass. */
td_status td_scheduler_2017_enter(const td_execute_options *options, uint32_t n_roots,
                                  td_error *error);
void td_scheduler_2017_leave(void);

/* td_scheduler_2017_prepare reads a pass's dependencies into the scheduler's own form,
 * graph_task->scheduler_2017. It reads them from the visited nodes. TD_UNSUPPORTED for nodes
 * that it cannot run. */
td_status td_scheduler_2017_prepare(td_graph_task *graph_task, td_error *error);
void td_scheduler_2017_free(td_scheduler_2017 *self); /* NULL is fine */

/* td_scheduler_2017_queue returns a new ready structure of the pass's own. */
td_ready_queue *td_scheduler_2017_queue(void);

/* td_scheduler_2017_scatter hands a node's outputs (taken) to the nodes below. TD_ASSERTION if
 * the original asserts, TD_AUTOGRAD with its text. The thread that runs the pass calls it. */
td_status td_scheduler_2017_scatter(td_graph_task *graph_task, td_node *node, td_tensor **outputs,
                                    td_error *error);

/* td_scheduler_2017_each calls back for every use that is still counted: `consumer` takes the
 * output of that number `uses` times. The order is that of the visit. The thread that runs the
 * pass calls it. */
typedef void td_use_callback(td_node *node, uint32_t output_nr, td_node *consumer, uint32_t uses,
                             void *data);
void td_scheduler_2017_each(const td_graph_task *graph_task, td_use_callback *callback, void *data);
