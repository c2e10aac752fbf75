/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ready queues, seen through their mutexes. If a queue grew by one while its mutex was held, a
 * thread pushed a task. If it shrank by one, a thread popped one. All this runs with the mutex
 * held, so the times of the events are in their true order. */
#pragma once

#include "engine/probe/observer/scatter.hpp"

namespace tapedeck {

/* std::priority_queue keeps its heap in a protected member. */
inline std::vector<NodeTask> &
heap_of(ReadyQueue *queue) {
  return queue->heap_.c;
}

inline Queue *
know_queue(const std::shared_ptr<ReadyQueue> &queue, int32_t device, uint32_t owner) {
  if (!queue) return nullptr;
  Queue *known = world->queues.obtain(native(queue->mutex_), [&](Queue &made) {
    made = {queue.get(), queue, world->n_queues++, TD_NONE, 0, UINT32_MAX, 0};
    world->queue_bits |= queue_bit(native(queue->mutex_));
  });
  if (known && known->session != td_probe_session) {
    known->session = td_probe_session;
    EMIT(queue_new, TIME_NOW, known->id, device, TD_NONE, owner, TD_queue_order_heap);
  }
  return known;
}

inline uint32_t
task_id(GraphTask *graph_task) {
  Task *task = recorded_task(graph_task);
  return task ? task->id : TD_NONE;
}

/* Is this a task of a pass that is not recorded? */
inline bool
is_hidden(const GraphTask *graph_task) {
  const Task *task = graph_task ? world->tasks.find(graph_task) : nullptr;
  return task && !task->graph_task;
}

/* The queue that this thread has locked before the observer's eyes. */
inline Queue *
held_queue(const Thread *thread) {
  return thread->queue && thread->queue_period == world->period ? thread->queue : nullptr;
}

/* Counts the hidden tasks when the queue is first locked after a pause. */
inline void
enter_queue(Thread *thread, Queue *queue) {
  thread->queue = queue;
  thread->queue_period = world->period;
  if (LIKELY(queue->period == thread->queue_period)) return;
  queue->period = thread->queue_period;
  queue->n_hidden = 0;
  for (const NodeTask &task : heap_of(queue->queue))
    queue->n_hidden += is_hidden(task.base_._M_ptr);
}

/* A popped task that was not evaluated after all: its pass had failed meanwhile. */
inline void
settle(Thread *thread) {
  Popped &popped = thread->popped;
  if (LIKELY(!popped.pending)) return;
  popped.pending = false;
  uint32_t task = popped.task ? popped.task->id : TD_NONE;
  EMIT(node_skip, TIME_LAST, popped.id, task, TD_skip_reason_error);
  EMIT(outstanding, TIME_LAST, task, clamp(popped.outstanding));
}

inline void
read_front(Thread *thread, Queue *queue) {
  std::vector<NodeTask> &heap = heap_of(queue->queue);
  Front &front = thread->front;
  front = {};
  if (heap.empty()) return;
  const NodeTask &task = heap.front();
  front.node = task.fn_.get();
  front.is_shutdown = task.isShutdownTask_;
  front.graph_task = task.base_._M_ptr;
  /* Its own pass a thread knows to be alive; another one may be going. */
  std::shared_ptr<GraphTask> held;
  if (front.graph_task != thread->own) held = task.base_.lock();
  const GraphTask *alive = front.graph_task == thread->own ? thread->own : held.get();
  front.is_expired = !alive;
  if (!alive) return;
  front.has_error = alive->has_error_;
  front.outstanding = alive->outstanding_tasks_ - 1;
}

inline void
note_popped(Thread *thread, Queue *queue, size_t size) {
  const Front &front = thread->front;
  Task *task = find_task(thread, front.graph_task);
  if (UNLIKELY(!task && !front.is_shutdown && is_hidden(front.graph_task))) {
    queue->n_hidden--;
    thread->popped = {};
    thread->done_mutex = nullptr;
    return;
  }
  size -= queue->n_hidden;
  bool is_pushed_last = front.node && front.node == thread->pushed;
  uint32_t id = is_pushed_last ? thread->pushed_id : id_of(front.node);
  uint32_t task_id = task ? task->id : TD_NONE;
  thread->pushed = nullptr;
  EMIT(queue_pop, stamp_now(&queue->last), queue->id, id, task_id, clamp(size), thread->waited);
  thread->popped = {front.node, id, task, front.outstanding, false};
  thread->done_mutex = nullptr;
  if (front.is_shutdown) return;
  if (front.is_expired) {
    if (front.node) EMIT(node_skip, TIME_LAST, id, task_id, TD_skip_reason_expired);
    return;
  }
  thread->popped.pending = front.node != nullptr;
  if (front.node && front.has_error)
    settle(thread);
  else if (!front.node && task)
    EMIT(outstanding, TIME_LAST, task_id, clamp(front.outstanding));
  if (!front.node || front.has_error) {
    thread->done_task = task;
    thread->done_mutex = native(front.graph_task->mutex_);
  }
}

/* The engine pushes in a scatter, in execute_with_graph_task, and to wake a pass's owner. */
inline void
note_pushed(Thread *thread, Queue *queue, size_t size) {
  Evaluation *evaluation = thread->evaluation;
  size -= queue->n_hidden;
  if (evaluation && evaluation->holds_lock) {
    const Arrival *arrival = tell_until_push(thread, evaluation);
    if (!arrival) return;
    thread->pushed = arrival->node;
    thread->pushed_id = arrival->id;
    EMIT(queue_push, stamp(&queue->last), queue->id, arrival->id, evaluation->task->id, clamp(size),
         TD_push_reason_ready);
  } else if (thread->root_task) {
    EMIT(queue_push, stamp(&queue->last), queue->id, thread->root, thread->root_task->id,
         clamp(size), TD_push_reason_root);
    thread->root_task = nullptr;
  } else if (UNLIKELY(thread->skips)) {
    queue->n_hidden++;
  } else {
    const NodeTask &front = heap_of(queue->queue).front();
    uint32_t task = task_id(front.base_._M_ptr);
    if (front.isShutdownTask_)
      EMIT(queue_shutdown, stamp(&queue->last), queue->id);
    else if (UNLIKELY(is_hidden(front.base_._M_ptr)))
      queue->n_hidden++;
    else if (!front.fn_)
      EMIT(queue_wake, stamp(&queue->last), queue->id, task, clamp(size));
    else
      EMIT(queue_push, stamp(&queue->last), queue->id, id_of(front.fn_.get()), task, clamp(size),
           TD_push_reason_root);
  }
}

inline void
queue_locked(Thread *thread, Queue *queue) {
  enter_queue(thread, queue);
  thread->queue_size = heap_of(queue->queue).size();
  thread->waited = 0;
  thread->slept = false;
  bool pushes = thread->root_task || (thread->evaluation && thread->evaluation->holds_lock);
  if (pushes) return;
  settle(thread);
  read_front(thread, queue);
}

inline void
queue_unlocking(Thread *thread) {
  Queue *queue = thread->queue;
  size_t size = heap_of(queue->queue).size();
  thread->queue = nullptr;
  if (size == thread->queue_size + 1) note_pushed(thread, queue, size);
  if (size + 1 == thread->queue_size) note_popped(thread, queue, size);
}

/* The queue's mutex is given up for as long as its condition is waited for. A device's thread may
 * begin to wait in a step that nobody wants, and wake in one that is recorded. */
template <class Wait>
void
sleep_on_queue(Thread *thread, pthread_mutex_t *mutex, Wait wait) {
  uint64_t begin = td_clock_now();
  Queue *held = td_probe_is_on() ? held_queue(thread) : nullptr;
  if (held && mutex != native(held->queue->mutex_)) return wait();
  if (held && !thread->slept) EMIT(thread_state, begin, TD_thread_activity_idle, TD_NONE);
  if (!held) thread->waited = 0;
  thread->slept = held;
  if (held) td_probe_meet_core();
  wait();
  Queue *queue = td_probe_is_on() ? find_queue(thread, mutex) : nullptr;
  if (!queue) return;
  if (held)
    thread->waited += end_stretch(begin);
  else
    td_probe_begin_core();
  enter_queue(thread, queue);
  queue->last = TD_NONE;
  thread->queue_size = heap_of(queue->queue).size();
  read_front(thread, queue);
}

} // namespace tapedeck
