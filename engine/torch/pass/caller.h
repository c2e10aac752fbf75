/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The caller of a backward pass: the thread that begins it, works for it on the CPU, and returns
 * when it is done. Private to engine/torch/pass.
 *
 * Note [Reentrant backward]
 * A node may call backward, and must not return before that pass is done. So its thread works in
 * two passes: it pops whatever goes first in its queue until the inner pass is done. The inner
 * pass's tasks go first, because they are deeper. But if other threads work for the inner pass too,
 * the thread may meanwhile run tasks of the outer pass, inside the waiting node. Passes do not form
 * a stack. A pass belongs to the queue of the thread that called it: a device thread's CPU work is
 * in its device's queue. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_caller_enter readies the calling thread for a pass: its queue (borrowed), the pass's depth,
 * the device threads. TD_AUTOGRAD in the child of a fork: Note [Fork] in fork.h. */
td_status td_caller_enter(td_ready_queue **queue, uint32_t *depth, td_error *error);

/* td_caller_execute pushes the root task, which it takes, and returns when the pass is done: the
 * caller works for it, or waits for the pool. */
void td_caller_execute(td_graph_task *graph_task, td_node_task root);
