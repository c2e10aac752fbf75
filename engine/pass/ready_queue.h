/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ReadyQueue: the tasks that a thread may run next. Their order is the one of
 * engine/base/task_order.h, with ties as in engine/base/heap.h; for scheduler_2017.h it is newest
 * or oldest first. Any thread pushes; the queue's own thread pops. Reference-counted: the thread
 * and the graph tasks that route to the queue hold it. */
#pragma once

#include "engine/events/lock.h"
#include "engine/graph/node.h"
#include "engine/pass/graph_task_handle.h"
#include "engine/pass/input_buffer.h"

/* A node to run with its gradients, for a graph task that it does not keep alive. */
typedef struct td_node_task {
  td_graph_task_handle *graph_task; /* (weak reference) or NULL for a shutdown task */
  td_node *node;                    /* (owned reference), or NULL: a dummy that only wakes */
  td_input_buffer *buffer;          /* (owned) or NULL */
  bool is_shutdown;
} td_node_task;

typedef struct td_ready_queue {
  td_refcount refs;
  uint32_t id;
  td_device device;
  td_queue_order order;
  td_lock lock; /* guards heap, n, n_waiting */
  pthread_cond_t not_empty;
  td_node_task *heap; /* (owned) */
  size_t n, capacity;
  uint32_t n_waiting;
  uint32_t announced; /* recording session that announced it (guarded by lock) */
} td_ready_queue;

td_ready_queue *td_ready_queue_new(td_device device); /* a heap */
td_ready_queue *td_ready_queue_new_ordered(td_device device, td_queue_order order);
td_ready_queue *td_ready_queue_ref(td_ready_queue *queue);
void td_ready_queue_unref(td_ready_queue *queue);

/* td_ready_queue_announce emits queue_new once per recording; owner is the thread that pops, where
 * the caller knows its number, else TD_NONE. */
void td_ready_queue_announce(td_ready_queue *queue, uint32_t owner);

/* td_ready_queue_push takes the task, counts it in its graph task's outstanding tasks, and wakes
 * the popper. td_ready_queue_push_uncounted is for tasks that were counted before they were known;
 * td_ready_queue_push_shutdown makes the popper leave before it does anything else. */
void td_ready_queue_push(td_ready_queue *queue, td_node_task task, td_push_reason reason);
void td_ready_queue_push_uncounted(td_ready_queue *queue, td_node_task task, td_push_reason reason);
void td_ready_queue_push_shutdown(td_ready_queue *queue);

/* td_ready_queue_size returns how many tasks wait just now. */
size_t td_ready_queue_size(td_ready_queue *queue);

/* td_ready_queue_pop waits for a task and hands it over. */
td_node_task td_ready_queue_pop(td_ready_queue *queue);

/* td_node_task_fini drops what a task holds. */
void td_node_task_fini(td_node_task *task);
