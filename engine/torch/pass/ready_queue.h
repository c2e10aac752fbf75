/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ReadyQueue: the tasks that a thread may run next. A shutdown task goes first, then a dummy task,
 * then the deeper re-entrant pass, then the higher sequence_nr. Ties are as in engine/base/heap.h.
 * For scheduler_2017.h the newest or the oldest goes first. Any thread pushes; the queue's own
 * thread pops. Reference-counted: the thread and the graph tasks that route to the queue hold it.
 *
 * Note [Choices]
 * A live session or a schedule may have another task popped than the first: see steer.h. Legal is a
 * task with a node whose pass lives, if the first task is such a one too and as deep. So a task
 * that wakes or ends the thread still goes first, and so does a pass inside a node. */
#pragma once

#include "engine/events/lock.h"
#include "engine/torch/graph/node.h"
#include "engine/torch/pass/graph_task_handle.h"
#include "engine/torch/pass/input_buffer.h"

/* A node to run with its gradients, for a graph task that it does not keep alive. */
typedef struct td_node_task {
  td_graph_task_handle *graph_task; /* (weak reference) or NULL for a shutdown task */
  td_node *node;                    /* (owned reference), or NULL: a dummy that only wakes */
  td_input_buffer *buffer;          /* (owned) or NULL */
  bool is_shutdown;
} td_node_task;

/* Which task of a queue; node NULL: none. */
typedef struct td_task_key {
  const td_node *node;
  const td_graph_task_handle *graph_task;
} td_task_key;

typedef struct td_ready_queue {
  td_refcount refs;
  uint32_t id;
  td_device device;
  td_queue_order order;
  td_lock lock; /* guards heap, n, n_waiting, chosen */
  pthread_cond_t not_empty;
  td_node_task *heap; /* (owned) */
  size_t n, capacity;
  uint32_t n_waiting;
  uint32_t announced; /* recording session that announced it (guarded by lock) */
  td_task_key chosen; /* (borrowed from the heap) by a user, to be popped next */
} td_ready_queue;

/* What is popped next, and who chose it. */
typedef struct td_pick {
  size_t place; /* in `heap` */
  bool is_chosen;
  td_chooser by;
} td_pick;

/* Who may choose another task than the first, under the queue's lock; NULL, at first: nobody. */
typedef td_pick (*td_queue_pilot)(td_ready_queue *queue);
extern _Atomic(td_queue_pilot) td_ready_queue_pilot;

td_ready_queue *td_ready_queue_new(td_device device); /* a heap */
td_ready_queue *td_ready_queue_new_ordered(td_device device, td_queue_order order);
td_ready_queue *td_ready_queue_ref(td_ready_queue *queue);
void td_ready_queue_unref(td_ready_queue *queue);

/* td_ready_queue_announce emits queue_new once per recording; owner is the thread that pops, where
 * the caller knows its number, else TD_NONE. */
void td_ready_queue_announce(td_ready_queue *queue, uint32_t owner);

/* td_ready_queue_push takes the task, counts it in its graph task's outstanding tasks, and wakes
 * the popper. td_ready_queue_push_shutdown makes the popper leave before it does anything else. */
void td_ready_queue_push(td_ready_queue *queue, td_node_task task, td_push_reason reason);
void td_ready_queue_push_shutdown(td_ready_queue *queue);

/* td_ready_queue_size returns how many tasks wait just now. */
size_t td_ready_queue_size(td_ready_queue *queue);

/* For whoever chooses, under the queue's lock. td_ready_queue_first returns the place of the task
 * whose turn it is; the queue is not empty. td_ready_queue_may_go returns true if the task at a
 * place may be popped now: Note [Choices]. */
size_t td_ready_queue_first(const td_ready_queue *queue);
bool td_ready_queue_may_go(const td_ready_queue *queue, size_t place);

/* td_ready_queue_n_choices returns how many tasks might be popped next. */
size_t td_ready_queue_n_choices(td_ready_queue *queue);

/* td_ready_queue_pop waits for a task and hands it over. */
td_node_task td_ready_queue_pop(td_ready_queue *queue);

/* td_node_task_fini drops what a task holds. */
void td_node_task_fini(td_node_task *task);
