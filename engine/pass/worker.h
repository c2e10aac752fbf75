/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Workers: the threads that pop tasks. The thread that calls execute is the CPU worker of its own
 * pass; each device has a thread of its own (device_threads.h), and passes that are nested too deep
 * run on a thread of the pool (pool.h). Private to engine/pass.
 *
 * Note [Owner's wake-up]
 * Whoever finishes the last task of a pass completes it. If that is not the owner, the owner may be
 * asleep in pop, so a dummy task is pushed to its queue. The dummy counts as outstanding and its
 * pop takes the count down again; a stray dummy in a user's queue is thrown away by the next pass.
 *
 * Note [Reentrant backward]
 * A node may call backward. Its thread then works in two passes: it pops whatever goes first in its
 * queue, the inner pass's tasks before all others because they are deeper, until the inner pass is
 * done. Where other threads work for the inner pass too, tasks of the outer one may run meanwhile,
 * inside the waiting node: passes do not form a stack. A pass belongs to the queue of the thread
 * that called it: a device thread's CPU work is in its device's queue. */
#pragma once

#include "engine/pass/graph_task.h"

/* Passes nested in nodes on one thread; deeper ones go to the pool. */
#define TD_MAX_DEPTH 60

/* td_worker_enter readies the calling thread for a pass: its queue (borrowed), the pass's depth,
 * the device threads. TD_AUTOGRAD in the child of a fork: Note [Fork]. */
td_status td_worker_enter(td_ready_queue **queue, uint32_t *depth, td_error *error);

/* td_worker_execute pushes the root task, which it takes, and returns when the pass is done: it
 * works for it, or waits for the pool. */
void td_worker_execute(td_graph_task *graph_task, td_node_task root);

/* td_worker_main pops and runs tasks until graph_task is done; for ever where it is NULL, but for a
 * shutdown task. */
void td_worker_main(td_graph_task *graph_task);

/* td_worker_run_node runs a task's node as its graph task wants it, or skips it after an error, and
 * settles the pass if it fails: false. */
bool td_worker_run_node(td_graph_task *graph_task, td_node_task *task);

/* td_worker_owner_queue returns the queue of the thread that called backward (borrowed): that of
 * its CPU nodes, also where the thread is a device's or one of the pool. */
td_ready_queue *td_worker_owner_queue(td_graph_task *graph_task);
