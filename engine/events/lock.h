/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A mutex that records its waits. A thread that finds the lock free emits nothing. A thread that
 * has to wait emits lock_wait, lock_acquired and lock_released. So contention is on the tape, and a
 * lock without contention costs nothing. Any thread. */
#pragma once

#include "engine/events/emit.h"

#include <pthread.h>

typedef struct td_lock {
  pthread_mutex_t mutex;
  td_lock_kind kind;
  uint32_t object;    /* id of the queue, graph task or node */
  uint32_t last;      /* thread that emitted under it last, or TD_NONE (guarded by mutex) */
  bool was_contended; /* by the present holder (guarded by mutex) */
} td_lock;

void td_lock_init(td_lock *lock, td_lock_kind kind, uint32_t object);
void td_lock_fini(td_lock *lock);

/* td_lock_wait_traced is the slow path of td_lock_acquire. td_lock_wait_traced_as waits for a lock
 * whose object got its id late. */
void td_lock_wait_traced(td_lock *lock);
void td_lock_wait_traced_as(td_lock *lock, uint32_t object);
void td_lock_release_traced(td_lock *lock);

/* td_lock_holder returns which thread holds a mutex right now, as far as events know threads.
 * TD_NONE if nobody does, or none that has emitted. Another thread may hold it a moment later. */
uint32_t td_lock_holder(const pthread_mutex_t *mutex);

static inline void
td_lock_acquire(td_lock *lock) {
  if (TD_UNLIKELY(pthread_mutex_trylock(&lock->mutex) != 0)) td_lock_wait_traced(lock);
}

static inline void
td_lock_release(td_lock *lock) {
  if (TD_UNLIKELY(lock->was_contended)) td_lock_release_traced(lock);
  pthread_mutex_unlock(&lock->mutex);
}

/* td_lock_sleep waits for a condition. Another thread may hold the lock meanwhile. So the tape says
 * that this thread gave it back, and the next stamp is a fresh one. */
static inline void
td_lock_sleep(td_lock *lock, pthread_cond_t *condition) {
  if (lock->was_contended) td_lock_release_traced(lock);
  pthread_cond_wait(condition, &lock->mutex);
  lock->last = TD_NONE;
}

/* td_lock_stamp returns a time for events about what the lock guards: Note [Stamps under a lock].
 * The caller holds the lock. 0 when nothing is recorded. */
static inline uint64_t
td_lock_stamp(td_lock *lock) {
  if (!td_recording()) return 0;
  const td_ring *ring = td_emit_ring;
  if (TD_LIKELY(ring && lock->last == ring->thread)) return td_emit_last_time();
  lock->last = td_emit_thread_id();
  return td_clock_ordered();
}
