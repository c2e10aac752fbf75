/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads that work in a derivation. Each knows which nodes it runs, and what it has yet to
 * hand on. Private to this folder. */
#pragma once

#include "engine/trace/derive/queue.h"

typedef struct td_running {
  td_rpass *pass;
  td_rnode *node;
} td_running;

typedef struct td_rthread {
  uint32_t id;
  td_rqueue *queue; /* that it pops, or NULL */
  bool is_device;
  td_running *running; /* (owned) nodes that began and have not ended, innermost last */
  size_t n_running, running_capacity;
  td_running ended;        /* its gradients are not handed on yet; pass NULL: none */
  td_rgradient *gradients; /* (owned) of `ended`, those that are defined, by output */
  uint32_t n_gradients, gradients_capacity;
  uint32_t last_node; /* that it made, if its edges may still come; or TD_NONE */
} td_rthread;

/* td_rthread_of returns the thread with this number, which a chunk of the tape has. */
td_rthread *td_rthread_of(td_derivation *self, uint32_t number);
void td_rthreads_fini(td_derivation *self);

/* td_rthread_note_running: the thread began a node. td_rthread_note_ended: the node ended, and the
 * thread has yet to hand on what it returned. td_rthread_add_gradient: that was this.
 * td_rthread_take_ended: that is done; the reference to the pass goes to the caller. */
void td_rthread_note_running(td_rthread *thread, td_rpass *pass, td_rnode *node);
void td_rthread_note_ended(td_rthread *thread, td_running ended);
void td_rthread_add_gradient(td_rthread *thread, const td_event_node_gradient *event);
td_running td_rthread_take_ended(td_rthread *thread);
