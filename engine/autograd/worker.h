/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Workers: the threads that pop tasks. The thread that calls execute is the CPU worker of its own
 * pass; each device has a thread of its own, started with the first pass. Private to
 * engine/autograd.
 *
 * Note [Owner's wake-up]
 * Whoever finishes the last task of a pass completes it. If that is not the owner, the owner may be
 * asleep in pop, so a dummy task is pushed to its queue. The dummy counts as outstanding and its
 * pop takes the count down again; a stray dummy in a user's queue is thrown away by the next pass.
 */
#pragma once

#include "engine/autograd/graph_task.h"

/* Passes nested in nodes on one thread; deeper ones would need the pool of re-entrant threads. */
#define TD_MAX_DEPTH 60

/* td_worker_enter readies the calling thread for a pass: its queue (borrowed), the pass's depth,
 * the device threads. TD_UNSUPPORTED after a fork and beyond TD_MAX_DEPTH. */
td_status td_worker_enter(td_ready_queue **queue, uint32_t *depth, td_error *error);

/* td_worker_execute pushes the root task, which it takes, works until the pass is done, and
 * returns. */
void td_worker_execute(td_graph_task *graph_task, td_node_task root);

/* td_worker_queue returns the queue of an accelerator's device thread (borrowed), NULL where there
 * is none: of the CPU, the meta device, and before the first pass. */
td_ready_queue *td_worker_queue(td_device device);
