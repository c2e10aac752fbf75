/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/derive/queue.h"

#include "engine/base/alloc.h"

/* A tape that has more devices lies. */
#define QUEUES_MAX 65536

static td_rtask *
task_of(const td_ready_task *entry) {
  return (td_rtask *)(uintptr_t)entry->id;
}

td_rqueue *
td_rqueue_new(td_derivation *self, uint32_t thread, int32_t device, uint32_t owner) {
  td_rqueue *queue = TD_NEW(td_rqueue);
  *queue = (td_rqueue){.id = (uint32_t)self->n_queues, .device = device, .server = TD_NONE};
  TD_GROW(self->queues, self->n_queues, self->queues_capacity);
  self->queues[self->n_queues++] = queue;
  if (self->queues_known)
    TD_DERIVE(self, thread, queue_new, .queue = queue->id, .device = device, .graph_task = TD_NONE,
              .owner = owner, .order = TD_queue_order_heap);
  return queue;
}

static void
free_queue(td_derivation *self, td_rqueue *queue) {
  for (size_t i = 0; i < queue->tasks.n; i++)
    td_rpass_unref(self, task_of(&queue->tasks.heap[i])->pass);
  td_ready_tasks_fini(&queue->tasks);
  free(queue);
}

void
td_rqueues_fini(td_derivation *self) {
  for (size_t i = 0; i < self->n_queues; i++)
    free_queue(self, self->queues[i]);
  free(self->queues);
}

static td_rqueue *
device_queue(td_derivation *self, uint32_t thread, int32_t device) {
  for (size_t i = 0; i < self->n_queues; i++)
    if (self->queues[i]->device == device) return self->queues[i];
  if (self->n_queues >= QUEUES_MAX) return self->queues[0];
  return td_rqueue_new(self, thread, device, TD_NONE);
}

static int32_t
device_of(const td_rtask *task) {
  return task->node->device != TD_DEVICE_CPU ? task->node->device : task->device;
}

td_rqueue *
td_rqueue_for(td_derivation *self, uint32_t thread, const td_rtask *task) {
  int32_t device = device_of(task);
  return device == TD_DEVICE_CPU ? task->pass->queue : device_queue(self, thread, device);
}

/* Dummies never wait here. */
void
td_rqueue_push(td_derivation *self, uint32_t thread, td_rtask *task, td_push_reason reason) {
  td_rqueue *queue = td_rqueue_for(self, thread, task);
  td_rpass *pass = task->pass;
  td_task_place place = {.depth = pass->over ? TD_TASK_DEPTH_GONE : pass->depth,
                         .sequence_nr = task->node->sequence_nr};
  task->pushed = true;
  pass->outstanding++;
  pass->refs++;
  td_ready_tasks_push(&queue->tasks, (td_ready_task){(uintptr_t)task, queue->n_pushed++, place});
  if (self->queues_known)
    TD_DERIVE(self, thread, queue_push, .queue = queue->id, .node = task->node->id,
              .graph_task = pass->graph_task, .size = (uint32_t)queue->tasks.n, .reason = reason);
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
td_rqueue_derive_pop(td_derivation *self, uint32_t thread, const td_rqueue *queue,
                     const td_rtask *task) {
  if (self->queues_known)
    TD_DERIVE(self, thread, queue_pop, .queue = queue->id, .node = task->node->id,
              .graph_task = task->pass->graph_task, .size = (uint32_t)queue->tasks.n, .waited = 0);
}

void
td_rqueues_expire(const td_derivation *self, const td_rpass *pass) {
  for (size_t i = 0; i < self->n_queues; i++)
    for (size_t at = 0; at < self->queues[i]->tasks.n; at++)
      if (task_of(&self->queues[i]->tasks.heap[at])->pass == pass)
        td_ready_tasks_expire(&self->queues[i]->tasks, at);
}

void
td_rqueues_forget_pass(td_derivation *self, td_rpass *pass) {
  for (size_t i = 0; i < self->n_queues; i++)
    for (size_t n = take_all(self->queues[i], pass, NULL); n > 0; n--)
      td_rpass_unref(self, pass);
}
