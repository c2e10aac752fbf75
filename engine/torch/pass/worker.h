/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Workers: the threads that pop tasks and run them. The thread that calls backward is the CPU
 * worker of its own pass (caller.h). Each device has a thread of its own (device_threads.h). Passes
 * that are nested too deep run on a thread of the pool (pool.h). Private to engine/torch/pass.
 *
 * Note [Owner's wake-up]
 * The thread that finishes the last task of a pass completes the pass. If that is not the owner,
 * the owner may be asleep in pop. So the thread pushes a dummy task to the owner's queue. The dummy
 * counts as outstanding until its pop. If a stray dummy is left in a user's queue, the next pass
 * throws it away.
 */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_worker_main pops and runs tasks until graph_task is done; If graph_task is NULL, it ends only
 * at a shutdown task. */
void td_worker_main(td_graph_task *graph_task);

/* td_worker_run_node runs a task's node, or skips it after an error. If the node fails, the
 * function fails the pass and returns false. */
bool td_worker_run_node(td_graph_task *graph_task, td_node_task *task);
