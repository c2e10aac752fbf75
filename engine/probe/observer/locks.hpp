/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mutexes and conditions, as libtorch_cpu calls them. Those of known queues and graph tasks show
 * pushes, pops and scatters. A node's is held while it applies or lets go of what it saved. A
 * thread that had to wait for one of them says so, and who held it. */
#pragma once

#include "engine/probe/observer/collectives.hpp"
#include "engine/probe/observer/evaluate.hpp"

#include <condition_variable>

namespace tapedeck {

/* Locks a known mutex. The tape gets the wait, if there is one, and later the end of that wait. */
inline int
lock_known(pthread_mutex_t *mutex, td_lock_kind kind, uint32_t object, bool *is_contended) {
  *is_contended = false;
  if (LIKELY(pthread_mutex_trylock(mutex) == 0)) return 0;
  uint64_t begin = td_clock_now();
  uint32_t holder = td_probe_lock_holder(mutex);
  EMIT(lock_wait, begin, kind, object);
  if (holder != TD_NONE) EMIT(lock_held, TIME_LAST, kind, object, holder);
  int result = pthread_mutex_lock(mutex);
  uint64_t end = td_clock_ordered();
  EMIT(lock_acquired, end, kind, object, end - begin);
  *is_contended = true;
  return result;
}

inline void
note_unlocking(td_lock_kind kind, uint32_t object, bool *is_contended) {
  if (LIKELY(!*is_contended)) return;
  *is_contended = false;
  EMIT(lock_released, TIME_NOW, kind, object);
}

/* The thread that finished a pass takes its mutex to complete it. */
inline void
note_completed(Thread *thread) {
  uint32_t task = thread->done_task ? thread->done_task->id : TD_NONE;
  thread->done_mutex = nullptr;
  EMIT(thread_state, TIME_NOW, TD_thread_activity_completed, task);
  EMIT(thread_state, TIME_LAST, TD_thread_activity_post_processing, task);
}

inline int
watched_lock(Thread *thread, pthread_mutex_t *mutex) {
  Evaluation *evaluation = thread->evaluation;
  if (evaluation && mutex == native(evaluation->graph_task->mutex_)) {
    int result =
        lock_known(mutex, TD_lock_kind_graph_task, evaluation->task->id, &thread->task_contended);
    task_locked(thread, evaluation);
    return result;
  }
  if (evaluation && mutex == native(evaluation->node->mutex_))
    return lock_known(mutex, TD_lock_kind_node, evaluation->id, &evaluation->node_contended);
  if (Queue *queue = find_queue(thread, mutex)) {
    int result = lock_known(mutex, TD_lock_kind_queue, queue->id, &thread->queue_contended);
    queue_locked(thread, queue);
    return result;
  }
  int result = pthread_mutex_lock(mutex);
  if (mutex == thread->done_mutex) note_completed(thread);
  return result;
}

inline int
mutex_lock_hook(pthread_mutex_t *mutex) {
  Thread *thread = thread_self;
  if (LIKELY(!thread || !thread->inside || !td_probe_is_on())) return pthread_mutex_lock(mutex);
  return watched_lock(thread, mutex);
}

inline int
mutex_unlock_hook(pthread_mutex_t *mutex) {
  Thread *thread = thread_self;
  if (LIKELY(!thread || !thread->inside || !td_probe_is_on())) return pthread_mutex_unlock(mutex);
  Evaluation *evaluation = thread->evaluation;
  Queue *queue = held_queue(thread);
  if (queue && mutex == native(queue->queue->mutex_)) {
    queue_unlocking(thread);
    note_unlocking(TD_lock_kind_queue, queue->id, &thread->queue_contended);
  } else if (evaluation && mutex == native(evaluation->graph_task->mutex_)) {
    task_unlocking(thread, evaluation);
    note_unlocking(TD_lock_kind_graph_task, evaluation->task->id, &thread->task_contended);
  } else if (evaluation && mutex == native(evaluation->node->mutex_)) {
    note_unlocking(TD_lock_kind_node, evaluation->id, &evaluation->node_contended);
  }
  return pthread_mutex_unlock(mutex);
}

/* A wait for a queue is one of a thread in the engine. In a final callback of c10d, it is one for
 * other processes. */
template <class Wait>
inline void
watch_wait(pthread_mutex_t *mutex, Wait wait) {
  Thread *thread = thread_self;
  if (!thread || !thread->inside) return wait();
  if (thread->reduces && !thread->evaluation && td_probe_is_on()) {
    Waiting waiting(thread, 0);
    return wait();
  }
  Queue *queue = td_probe_is_on() ? held_queue(thread) : nullptr;
  if (queue && mutex == native(queue->queue->mutex_))
    note_unlocking(TD_lock_kind_queue, queue->id, &thread->queue_contended);
  sleep_on_queue(thread, mutex, wait);
}

inline void
condition_wait_hook(std::condition_variable *condition, std::unique_lock<std::mutex> &lock) {
  watch_wait(native(*lock.mutex()), [&] { condition->wait(lock); });
}

inline int
cond_wait_hook(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  int result = 0;
  watch_wait(mutex, [&] { result = pthread_cond_wait(condition, mutex); });
  return result;
}

} // namespace tapedeck
