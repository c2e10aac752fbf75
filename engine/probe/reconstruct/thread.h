/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads that a reconstruction has seen. Each knows which nodes it runs, which calls of
 * backward it is in, and what it has yet to hand on. The caller holds the lock of reconstruct.c. */
#pragma once

#include "engine/events/ring.h"
#include "engine/probe/reconstruct/queue.h"

typedef struct td_running {
  td_rpass *pass;
  td_rnode *node;
} td_running;

typedef struct td_rthread {
  uint32_t id;
  uint32_t recording; /* in which the thread was seen */
  td_ring *ring;      /* (borrowed) written under the lock alone */
  td_rqueue *queue;   /* that it pops, or NULL */
  bool is_device;
  td_running *running; /* (owned) nodes that began and have not ended, innermost last */
  size_t n_running, running_capacity;
  td_rpass **calls; /* (owned) its calls of backward, innermost last */
  size_t n_calls, calls_capacity;
  td_running ended;            /* its gradients are not handed on yet; pass NULL: none */
  td_seen_gradient *gradients; /* (owned) of `ended` */
  uint32_t n_gradients;
  struct td_rthread *next;
} td_rthread;

/* td_rthreads_start forgets all threads and leaves their memory: one may still be in there. */
void td_rthreads_start(void);

/* td_rthread_now returns the calling thread; a new one goes on the tape. */
td_rthread *td_rthread_now(void);

/* td_rthreads_first returns the first of all threads; `next` leads to the others. */
td_rthread *td_rthreads_first(void);

/* td_rthread_speak_for lets the caller's events bear the number of another thread, until
 * td_rthread_speak_for_self. It returns what that function needs. */
td_ring *td_rthread_speak_for(const td_rthread *thread);
void td_rthread_speak_for_self(td_ring *own);

/* td_rthread_note_running: the thread began a node. td_rthread_note_ended: the node ended with
 * these gradients, and the thread has yet to hand them on. */
void td_rthread_note_running(td_rthread *thread, td_rpass *pass, td_rnode *node);
void td_rthread_note_ended(td_rthread *thread, td_running ended, const td_seen_gradient *gradients,
                           uint32_t n);
