/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for locks, and who had the lock meanwhile. Zero-initialise, then set listener, data,
 * range and node_of. One thread.
 *
 * Note [Held, and woke late]
 * Problem: a wait may be much longer than its first holder had the lock. The lock was given back,
 * but before the waiting thread woke up, another one took it. So the whole wait must not be charged
 * to the first holder.
 *
 * Constraint: a thread that finds a lock free tells neither when it takes it nor when it gives it
 * back.
 *
 * Trick: other events of the threads tell. A wait is a list of stretches. In each of them one
 * thread held the lock first, and then the lock was free: the waiting thread woke late.
 *
 * - lock_held names who has the lock when a wait begins, and of the GIL later too; lock_acquired,
 *   who has it from then on.
 * - A node's function runs under the lock of its node, if threads ever wait for that lock. So
 *   node_begin tells of a new holder, unless its lock_wait follows.
 * - dependency_dec tells who has the lock of a graph task.
 * - lock_released, and node_end for the lock of that node, tell that a thread gave it back. It
 *   gives back the locks of queues and graph tasks before it counts its task as finished, sleeps,
 *   or takes another task.
 *
 * If no event tells that the last holder gave the lock back, then it did so at latest when the
 * waiting thread got it: the stretch `is_bound`. */
#pragma once

#include "engine/profile/range.h"

/* A thread that had the lock in a wait, perhaps several times. */
typedef struct td_wait_stretch {
  uint32_t holder;   /* thread, or TD_NONE: not known */
  uint32_t node;     /* that it was at work for, or TD_NONE */
  uint64_t first_ns; /* when it had it first in the wait; of the caller's clock */
  uint64_t held_ns;  /* of the wait */
  uint64_t late_ns;  /* after it had given the lock back, until a thread had it again */
  bool is_bound;     /* held_ns is the most that is possible */
} td_wait_stretch;

/* What a thread waits for. Of all but locks, thread_waits.h tells. */
typedef enum td_wait_kind {
  TD_WAIT_LOCK,
  TD_WAIT_TASK,
  TD_WAIT_STREAM,
  TD_WAIT_COLLECTIVE
} td_wait_kind;

typedef struct td_held_wait {
  td_wait_kind kind;
  uint32_t thread, lock;
  uint32_t object; /* of a lock; a task's queue; the string that names a collective operation */
  int32_t device, stream;               /* of a TD_WAIT_STREAM */
  uint64_t begin_seq, begin_ns, end_ns; /* of the tape */
  uint64_t ns;                          /* what lock_acquired says, as far as it is in the range */
  const td_wait_stretch *stretches;     /* (borrowed) for the call, the first holder first */
  uint32_t n_stretches;
  uint32_t last_holder; /* before the waiting thread got it, or TD_NONE: not known */
  bool was_freed;       /* an event told that last_holder gave it back */
} td_held_wait;

typedef struct td_held_waits {
  void (*listener)(const td_held_wait *wait, void *data); /* at the end of each wait */
  uint32_t (*node_of)(uint32_t thread,
                      void *data); /* what it is at work for, or TD_NONE; or NULL */
  /* The holder of the lock that a thread waits for gives it back now; or NULL. */
  void (*freed)(uint32_t waiter, uint32_t holder, void *data);
  void *data;
  td_range range;
  struct td_waiting **threads; /* (owned) by thread */
  uint32_t n_threads;
  uint32_t *waiting; /* (owned) threads that wait now */
  uint32_t n_waiting, capacity;
} td_held_waits;

/* td_held_waits_take takes the next event of the tape. `now` is the time of a clock that stands
 * still outside of the range. */
void td_held_waits_take(td_held_waits *waits, const td_any_event *event, uint64_t seq,
                        uint64_t now);
void td_held_waits_fini(td_held_waits *waits);

/* td_held_wait_longest returns the stretch of a wait whose thread held the lock for longest. */
const td_wait_stretch *td_held_wait_longest(const td_held_wait *wait);
