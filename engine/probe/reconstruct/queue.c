/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/reconstruct/queue.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"

static td_rqueue **queues; /* (owned) */
static size_t n_queues, queues_capacity;
static bool queues_known;

static td_rtask *
task_of(const td_ready_task *entry) {
  return (td_rtask *)(uintptr_t)entry->id;
}

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
td_rqueue_for(const td_rtask *task) {
  int32_t device = device_of(task);
  return device == TD_DEVICE_CPU ? task->pass->queue : device_queue(device);
}

td_rqueue *
td_rqueue_at(size_t number) {
  return number < n_queues ? queues[number] : NULL;
}

/* Dummies never wait here. */
void
td_rqueue_push(td_rtask *task, td_push_reason reason) {
  td_rqueue *queue = td_rqueue_for(task);
  td_rpass *pass = task->pass;
  td_task_place place = {.depth = pass->over ? TD_TASK_DEPTH_GONE : pass->depth,
                         .sequence_nr = task->node->sequence_nr};
  task->pushed = true;
  pass->outstanding++;
  pass->refs++;
  td_ready_tasks_push(&queue->tasks, (td_ready_task){(uintptr_t)task, queue->n_pushed++, place});
  if (queues_known)
    TD_EMIT(queue_push, .queue = queue->id, .node = task->node->id, .graph_task = pass->graph_task,
            .size = (uint32_t)queue->tasks.n, .reason = reason);
}

td_rtask *
td_rqueue_first(const td_rqueue *queue) {
  return queue->tasks.n ? task_of(&queue->tasks.heap[0]) : NULL;
}

void
td_rqueue_pop(td_rqueue *queue) {
  td_ready_tasks_pop(&queue->tasks);
}

/* Puts back all but those that match, in the array's order. task: NULL: all of the pass. */
static size_t
take_all(td_rqueue *queue, const td_rpass *pass, const td_rtask *task) {
  size_t n = queue->tasks.n, n_taken = 0;
  queue->tasks.n = 0;
  for (size_t i = 0; i < n; i++) {
    td_ready_task entry = queue->tasks.heap[i];
    bool matches = task ? task_of(&entry) == task : task_of(&entry)->pass == pass;
    n_taken += matches;
    if (!matches) td_ready_tasks_push(&queue->tasks, entry);
  }
  return n_taken;
}

bool
td_rqueue_take(td_rqueue *queue, const td_rtask *task) {
  return take_all(queue, task->pass, task) > 0;
}

void
td_rqueue_emit_pop(const td_rqueue *queue, const td_rtask *task) {
  if (queues_known)
    TD_EMIT(queue_pop, .queue = queue->id, .node = task->node->id,
            .graph_task = task->pass->graph_task, .size = (uint32_t)queue->tasks.n, .waited = 0);
}

void
td_rqueues_expire(const td_rpass *pass) {
  for (size_t i = 0; i < n_queues; i++)
    for (size_t at = 0; at < queues[i]->tasks.n; at++)
      if (task_of(&queues[i]->tasks.heap[at])->pass == pass)
        td_ready_tasks_expire(&queues[i]->tasks, at);
}

void
td_rqueues_forget_pass(td_rpass *pass) {
  for (size_t i = 0; i < n_queues; i++)
    for (size_t n = take_all(queues[i], pass, NULL); n > 0; n--)
      td_rpass_unref(pass);
}
