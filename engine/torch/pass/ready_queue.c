/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/ready_queue.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/events/core_waits.h"
#include "engine/torch/pass/queue_list.h"

#include <string.h>

_Atomic(td_queue_pilot) td_ready_queue_pilot;

static _Atomic uint32_t n_queues;

/* A task whose graph task is gone becomes urgent, to be thrown away. Evaluated when two tasks are
 * compared: it may be gone by then. */
static inline uint32_t
depth_of(const td_graph_task_handle *graph_task) {
  return td_graph_task_handle_is_alive(graph_task) ? graph_task->reentrant_depth : INT32_MAX;
}

/* True if b goes strictly before a: CompareNodeTaskTime of PyTorch's engine.h. The rule stands in
 * engine/rules/task_order.h too. It is written here a second time on purpose: what judges and
 * predicts this queue must not share it. */
static inline bool
goes_after(td_node_task a, td_node_task b, void *context) {
  if (b.is_shutdown) return true;
  if (a.is_shutdown || !a.node) return false;
  if (!b.node) return true;
  if (a.graph_task != b.graph_task) {
    uint32_t depth_a = depth_of(a.graph_task), depth_b = depth_of(b.graph_task);
    if (depth_a != depth_b) return depth_a < depth_b;
  }
  return a.node->sequence_nr < b.node->sequence_nr;
}

TD_HEAP_DEFINE(task_heap, td_node_task, TD_HEAP_GET, goes_after, TD_HEAP_SET)

td_ready_queue *
td_ready_queue_new(td_device device) {
  return td_ready_queue_new_ordered(device, TD_queue_order_heap);
}

td_ready_queue *
td_ready_queue_new_ordered(td_device device, td_queue_order order) {
  td_ready_queue *queue = TD_NEW(td_ready_queue);
  td_refcount_init(&queue->refs);
  queue->id = atomic_fetch_add_explicit(&n_queues, 1, memory_order_relaxed);
  queue->device = device;
  queue->order = order;
  td_lock_init(&queue->lock, TD_lock_kind_queue, queue->id);
  pthread_cond_init(&queue->not_empty, NULL);
  td_queue_list_add(queue, queue->id);
  return queue;
}

td_ready_queue *
td_ready_queue_ref(td_ready_queue *queue) {
  td_refcount_inc(&queue->refs);
  return queue;
}

void
td_ready_queue_unref(td_ready_queue *queue) {
  if (!queue || !td_refcount_dec(&queue->refs)) return;
  td_queue_list_remove(queue);
  for (size_t i = 0; i < queue->n; i++)
    td_node_task_fini(&queue->heap[i]);
  td_lock_fini(&queue->lock);
  pthread_cond_destroy(&queue->not_empty);
  free(queue->heap);
  free(queue);
}

void
td_ready_queue_announce(td_ready_queue *queue, uint32_t owner) {
  if (!td_recording()) return;
  td_lock_acquire(&queue->lock);
  if (queue->announced != td_emit_session()) {
    queue->announced = td_emit_session();
    TD_EMIT_AT(td_lock_stamp(&queue->lock), queue_new, .queue = queue->id, .device = queue->device,
               .graph_task = TD_NONE, .owner = owner, .order = queue->order);
  }
  td_lock_release(&queue->lock);
}

static void
emit_push(const td_ready_queue *queue, uint64_t stamp, const td_node_task *task,
          td_push_reason reason) {
  if (task->is_shutdown)
    TD_EMIT_AT(stamp, queue_shutdown, .queue = queue->id);
  else if (!task->node)
    TD_EMIT_AT(stamp, queue_wake, .queue = queue->id, .graph_task = task->graph_task->id,
               .size = (uint32_t)queue->n);
  else
    TD_EMIT_AT(stamp, queue_push, .queue = queue->id, .node = td_node_id(task->node),
               .graph_task = task->graph_task->id, .size = (uint32_t)queue->n, .reason = reason);
}

static void
put_locked(td_ready_queue *queue, td_node_task task) {
  if (queue->order == TD_queue_order_heap)
    task_heap_push(queue->heap, queue->n++, task, NULL);
  else
    queue->heap[queue->n++] = task;
}

size_t
td_ready_queue_first(const td_ready_queue *queue) {
  return queue->order == TD_queue_order_lifo ? queue->n - 1 : 0;
}

/* A task with a node, of a pass that lives. */
static bool
is_live(const td_node_task *task) {
  return task->node && td_graph_task_handle_is_alive(task->graph_task);
}

bool
td_ready_queue_may_go(const td_ready_queue *queue, size_t place) {
  const td_node_task *first = &queue->heap[td_ready_queue_first(queue)];
  const td_node_task *task = &queue->heap[place];
  return is_live(first) && is_live(task) &&
         first->graph_task->reentrant_depth == task->graph_task->reentrant_depth;
}

size_t
td_ready_queue_n_choices(td_ready_queue *queue) {
  size_t n = 0;
  td_lock_acquire(&queue->lock);
  for (size_t place = 0; place < queue->n; place++)
    n += td_ready_queue_may_go(queue, place);
  td_lock_release(&queue->lock);
  return n;
}

static td_pick
pick_locked(td_ready_queue *queue) {
  td_queue_pilot pilot = atomic_load_explicit(&td_ready_queue_pilot, memory_order_acquire);
  if (TD_UNLIKELY(pilot != NULL)) return pilot(queue);
  return (td_pick){.place = td_ready_queue_first(queue)};
}

static td_node_task
take_locked(td_ready_queue *queue, size_t place) {
  if (queue->order == TD_queue_order_heap)
    return task_heap_remove(queue->heap, queue->n--, place, NULL);
  td_node_task task = queue->heap[place];
  queue->n--;
  memmove(queue->heap + place, queue->heap + place + 1, (queue->n - place) * sizeof task);
  return task;
}

static void
push(td_ready_queue *queue, td_node_task task, td_push_reason reason, bool is_counted) {
  td_lock_acquire(&queue->lock);
  if (is_counted) td_graph_task_handle_count_push(task.graph_task);
  TD_GROW(queue->heap, queue->n, queue->capacity);
  put_locked(queue, task);
  emit_push(queue, td_lock_stamp(&queue->lock), &task, reason);
  bool wake = queue->n_waiting > 0;
  td_lock_release(&queue->lock);
  if (wake) pthread_cond_signal(&queue->not_empty);
}

void
td_ready_queue_push(td_ready_queue *queue, td_node_task task, td_push_reason reason) {
  push(queue, task, reason, true);
}

void
td_ready_queue_push_shutdown(td_ready_queue *queue) {
  push(queue, (td_node_task){.is_shutdown = true}, TD_push_reason_root, false);
}

size_t
td_ready_queue_size(td_ready_queue *queue) {
  td_lock_acquire(&queue->lock);
  size_t n = queue->n;
  td_lock_release(&queue->lock);
  return n;
}

/* Sleeps until there is a task. The lock is given up meanwhile, so the time afterwards must be a
 * fresh one. */
static uint64_t
wait_locked(td_ready_queue *queue) {
  uint64_t begin = td_recording() ? td_clock_now() : 0;
  TD_EMIT_AT(begin, thread_state, .state = TD_thread_activity_idle, .graph_task = TD_NONE);
  queue->n_waiting++;
  if (begin) td_core_meet();
  while (queue->n == 0)
    td_lock_sleep(&queue->lock, &queue->not_empty);
  queue->n_waiting--;
  if (!td_recording()) return 0;
  if (!begin) td_core_begin();
  if (!begin) return 0;
  td_core_look_since(begin);
  return td_clock_now() - begin;
}

td_node_task
td_ready_queue_pop(td_ready_queue *queue) {
  td_lock_acquire(&queue->lock);
  uint64_t waited = queue->n == 0 ? wait_locked(queue) : 0;
  td_pick pick = pick_locked(queue);
  td_node_task task = take_locked(queue, pick.place);
  uint64_t stamp = td_lock_stamp(&queue->lock);
  if (TD_UNLIKELY(pick.is_chosen))
    TD_EMIT_AT(stamp, task_chosen, .queue = queue->id, .node = td_node_id(task.node),
               .graph_task = task.graph_task->id, .by = pick.by);
  TD_EMIT_AT(stamp, queue_pop, .queue = queue->id,
             .node = task.node ? td_node_id(task.node) : TD_NONE,
             .graph_task = task.graph_task ? task.graph_task->id : TD_NONE,
             .size = (uint32_t)queue->n, .waited = waited);
  td_lock_release(&queue->lock);
  return task;
}

void
td_node_task_fini(td_node_task *task) {
  td_input_buffer_free(task->buffer);
  td_node_unref(task->node);
  td_graph_task_handle_unref(task->graph_task);
  *task = (td_node_task){0};
}
