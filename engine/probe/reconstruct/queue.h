/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues of a reconstruction. Each has the order of engine/rules. Without sequence
 * numbers that order is unknown: then the queues stay off the tape. The caller holds the lock of
 * reconstruct.c.
 */
#pragma once

#include "engine/events/event.h"
#include "engine/probe/reconstruct/pass.h"
#include "engine/rules/ready_tasks.h"

typedef struct td_rqueue {
  uint32_t id;
  int32_t device;
  td_ready_tasks tasks; /* (owned) ids are td_rtask *, with a reference to its pass each */
  uint64_t n_pushed;
  struct td_rthread *server; /* (borrowed) the last thread that served it */
} td_rqueue;

/* td_rqueues_start forgets all queues. `known`: they go on the tape. */
void td_rqueues_start(bool known);
bool td_rqueues_known(void);

/* td_rqueue_new makes a queue and puts it on the tape. owner is a thread, or TD_NONE. */
td_rqueue *td_rqueue_new(int32_t device, uint32_t owner);

/* td_rqueue_at returns the queue with this number, NULL beyond the last. */
td_rqueue *td_rqueue_at(size_t number);

/* td_rqueue_for returns the queue that a ready task enters: its device's, or its caller's. */
td_rqueue *td_rqueue_for(const td_rtask *task);

/* td_rqueue_push puts a ready task into its queue, and both on the tape. */
void td_rqueue_push(td_rtask *task, td_push_reason reason);

/* td_rqueue_first returns what the queue yields next, or NULL. */
td_rtask *td_rqueue_first(const td_rqueue *queue);

/* td_rqueue_pop takes out the first; its reference to the pass goes to the caller. td_rqueue_take
 * does so with a task that need not be first, and returns false if it is not there. Neither emits:
 * td_rqueue_emit_pop does. */
void td_rqueue_pop(td_rqueue *queue);
bool td_rqueue_take(td_rqueue *queue, const td_rtask *task);
void td_rqueue_emit_pop(const td_rqueue *queue, const td_rtask *task);

/* td_rqueues_expire: a pass is over, and its tasks wait to be thrown away. td_rqueues_forget_pass
 * empties all queues of a pass and emits nothing. */
void td_rqueues_expire(const td_rpass *pass);
void td_rqueues_forget_pass(td_rpass *pass);
