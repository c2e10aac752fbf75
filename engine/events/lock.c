/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/lock.h"

void
td_lock_init(td_lock *lock, td_lock_kind kind, uint32_t object) {
  *lock = (td_lock){.kind = kind, .object = object, .last = TD_NONE};
  pthread_mutex_init(&lock->mutex, NULL);
}

void
td_lock_fini(td_lock *lock) {
  pthread_mutex_destroy(&lock->mutex);
}

/* The C library keeps the holder's kernel id in every mutex, so that nobody else has to. */
uint32_t
td_lock_holder(const pthread_mutex_t *mutex) {
  int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
  return owner ? td_emit_thread_of(owner) : TD_NONE;
}

void
td_lock_wait_traced_as(td_lock *lock, uint32_t object) {
  if (!td_recording()) {
    pthread_mutex_lock(&lock->mutex);
    return;
  }
  uint64_t begin = td_clock_now();
  uint32_t holder = td_lock_holder(&lock->mutex);
  TD_EMIT_AT(begin, lock_wait, .lock = lock->kind, .object = object);
  if (holder != TD_NONE)
    TD_EMIT_BORROWED(lock_held, .lock = lock->kind, .object = object, .holder = holder);
  pthread_mutex_lock(&lock->mutex);
  uint64_t end = td_clock_ordered();
  lock->was_contended = true;
  lock->last = td_emit_thread_id();
  if (lock->object != object) lock->object = object;
  TD_EMIT_AT(end, lock_acquired, .lock = lock->kind, .object = object, .waited = end - begin);
}

void
td_lock_wait_traced(td_lock *lock) {
  td_lock_wait_traced_as(lock, lock->object);
}

void
td_lock_release_traced(td_lock *lock) {
  lock->was_contended = false;
  TD_EMIT_AT(td_clock_ordered(), lock_released, .lock = lock->kind, .object = lock->object);
}
