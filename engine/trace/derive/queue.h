/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues of a derivation. Each has the order of engine/rules. Without sequence numbers
 * that order is unknown: then the queues stay off the tape. Private to this folder. */
#pragma once

#include "engine/rules/ready_tasks.h"
#include "engine/trace/derive/pass.h"

typedef struct td_rqueue {
  uint32_t id;
  int32_t device;
  td_ready_tasks tasks; /* (owned) ids are td_rtask *, with a reference to its pass each */
  uint64_t n_pushed;
  uint32_t server; /* the last thread that served it, or TD_NONE */
} td_rqueue;

/* td_rqueue_new makes a queue and puts it on the tape. owner is a thread, or TD_NONE. */
td_rqueue *td_rqueue_new(td_derivation *self, uint32_t thread, int32_t device, uint32_t owner);
void td_rqueues_fini(td_derivation *self);

/* td_rqueue_for returns the queue that a ready task enters: its device's, or its caller's. */
td_rqueue *td_rqueue_for(td_derivation *self, uint32_t thread, const td_rtask *task);

/* td_rqueue_push puts a ready task into its queue, and both on the tape. */
void td_rqueue_push(td_derivation *self, uint32_t thread, td_rtask *task, td_push_reason reason);

/* td_rqueue_first returns what the queue yields next, or NULL. */
td_rtask *td_rqueue_first(const td_rqueue *queue);

/* td_rqueue_pop takes out the first; its reference to the pass goes to the caller. td_rqueue_take
 * does so with a task that need not be first, and returns false if it is not there. Neither writes:
 * td_rqueue_derive_pop does. */
void td_rqueue_pop(td_rqueue *queue);
bool td_rqueue_take(td_rqueue *queue, const td_rtask *task);
void td_rqueue_derive_pop(td_derivation *self, uint32_t thread, const td_rqueue *queue,
                          const td_rtask *task);

/* td_rqueues_expire: a pass is over, and its tasks wait to be thrown away. td_rqueues_forget_pass
 * empties all queues of a pass and writes nothing. */
void td_rqueues_expire(const td_derivation *self, const td_rpass *pass);
void td_rqueues_forget_pass(td_derivation *self, td_rpass *pass);
