/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits of threads that are for no lock, told as those are: held_waits.h. Zero-initialise, then set
 * listener and data. One thread.
 *
 * - TD_WAIT_TASK: a thread sleeps on its queue until there is a task. The holder is the thread that
 *   pushed the task, or that woke the sleeper, and the node that it handed gradients of on. It held
 *   the sleeper up until the push; then the sleeper woke late.
 * - TD_WAIT_STREAM: a thread waits for kernels. No thread is the holder.
 * - TD_WAIT_COLLECTIVE: a thread waits for an operation of several processes. The holder is the
 *   thread of another process that came last, while this one waited. It held the others up until it
 *   came. On a tape of one process the holder is not known.
 *
 * A wait that has no end on the tape is not told. */
#pragma once

#include "engine/profile/held_waits.h"

typedef struct td_thread_waits {
  void (*listener)(const td_held_wait *wait, void *data); /* at the end of each wait */
  void *data;
  struct td_thread_wait **threads; /* (owned) by thread */
  uint32_t n_threads;
  struct td_last_push *queues; /* (owned) by queue */
  uint32_t n_queues;
  uint32_t *in_collectives; /* (owned) threads */
  uint32_t n_in_collectives, capacity;
} td_thread_waits;

/* td_thread_waits_take takes the next event of the tape. */
void td_thread_waits_take(td_thread_waits *waits, const td_any_event *event, uint64_t seq);
void td_thread_waits_fini(td_thread_waits *waits);
