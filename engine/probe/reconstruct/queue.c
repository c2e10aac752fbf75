/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/reconstruct/queue.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/events/emit.h"
#include "engine/rules/task_order.h"

static td_rqueue **queues; /* (owned) */
static size_t n_queues, queues_capacity;
static bool queues_known;

/* Dummies never wait here. */
static inline td_task_place
place_of(const td_rentry *entry) {
  return (td_task_place){.depth = entry->pass->over ? TD_TASK_DEPTH_GONE : entry->pass->depth,
                         .sequence_nr = entry->node->sequence_nr};
}

static inline bool
goes_after(td_rentry a, td_rentry b, void *context) {
  return td_task_goes_after(place_of(&a), place_of(&b));
}

TD_HEAP_DEFINE(entries, td_rentry, TD_HEAP_GET, goes_after, TD_HEAP_SET)

void
td_rqueues_start(bool known) {
  queues = NULL;
  n_queues = queues_capacity = 0;
  queues_known = known;
}

bool
td_rqueues_known(void) {
  return queues_known;
}

td_rqueue *
td_rqueue_new(int32_t device, uint32_t owner) {
  td_rqueue *queue = TD_NEW(td_rqueue);
  *queue = (td_rqueue){.id = (uint32_t)n_queues, .device = device};
  TD_GROW(queues, n_queues, queues_capacity);
  queues[n_queues++] = queue;
  if (queues_known)
    TD_EMIT(queue_new, .queue = queue->id, .device = device, .graph_task = TD_NONE, .owner = owner,
            .order = TD_queue_order_heap);
  return queue;
}

static td_rqueue *
device_queue(int32_t device) {
  for (size_t i = 0; i < n_queues; i++)
    if (queues[i]->device == device) return queues[i];
  return td_rqueue_new(device, TD_NONE);
}

static int32_t
device_of(const td_rtask *task) {
  return task->node->device != TD_DEVICE_CPU ? task->node->device : task->device;
}

td_rqueue *
td_rqueue_for(const td_rpass *pass, const td_rtask *task) {
  int32_t device = device_of(task);
  return device == TD_DEVICE_CPU ? pass->queue : device_queue(device);
}

td_rqueue *
td_rqueue_at(size_t number) {
  return number < n_queues ? queues[number] : NULL;
}

void
td_rqueue_push(td_rpass *pass, td_rtask *task, td_push_reason reason) {
  td_rqueue *queue = td_rqueue_for(pass, task);
  task->pushed = true;
  pass->outstanding++;
  pass->refs++;
  TD_GROW(queue->heap, queue->n, queue->capacity);
  entries_push(queue->heap, queue->n++, (td_rentry){pass, task->node}, NULL);
  if (queues_known)
    TD_EMIT(queue_push, .queue = queue->id, .node = task->node->id, .graph_task = pass->graph_task,
            .size = (uint32_t)queue->n, .reason = reason);
}

bool
td_rqueue_is_first(const td_rqueue *queue, const td_rpass *pass, const td_rnode *node) {
  return queue->n > 0 && queue->heap[0].pass == pass && queue->heap[0].node == node;
}

td_rentry
td_rqueue_pop(td_rqueue *queue) {
  return entries_pop(queue->heap, queue->n--, NULL);
}

/* Puts back all but those that match, in the array's order. */
static size_t
take_all(td_rqueue *queue, const td_rpass *pass, const td_rnode *node) {
  size_t n = queue->n, n_taken = 0;
  queue->n = 0;
  for (size_t i = 0; i < n; i++) {
    td_rentry entry = queue->heap[i];
    bool matches = entry.pass == pass && (!node || entry.node == node);
    n_taken += matches;
    if (!matches) entries_push(queue->heap, queue->n++, entry, NULL);
  }
  return n_taken;
}

bool
td_rqueue_take(td_rqueue *queue, const td_rpass *pass, const td_rnode *node) {
  return take_all(queue, pass, node) > 0;
}

void
td_rqueue_emit_pop(const td_rqueue *queue, const td_rpass *pass, const td_rnode *node) {
  if (queues_known)
    TD_EMIT(queue_pop, .queue = queue->id, .node = node->id, .graph_task = pass->graph_task,
            .size = (uint32_t)queue->n, .waited = 0);
}

void
td_rqueues_forget_pass(td_rpass *pass) {
  for (size_t i = 0; i < n_queues; i++)
    for (size_t n = take_all(queues[i], pass, NULL); n > 0; n--)
      td_rpass_unref(pass);
}
