/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tasks of one ready queue, in the engine's order or in that of 2017: task_order.h, with ties
 * as engine/base/heap.h has them. It holds ids and what decides a place, and knows no graph.
 * Memory grows with the most tasks that were in it at once. Zero-initialise. One thread. */
#pragma once

#include "engine/rules/task_order.h"

typedef struct td_ready_task {
  uint64_t id;    /* the caller's */
  uint64_t order; /* the number of its push: each is greater than those before */
  td_task_place place;
} td_ready_task;

typedef struct td_ready_tasks {
  td_queue_order order;
  td_ready_task *heap; /* (owned) [n] the first task lies first */
  size_t n, capacity;
} td_ready_tasks;

/* td_ready_task_goes_after returns true if b goes strictly before a. */
static inline bool
td_ready_task_goes_after(td_queue_order order, const td_ready_task *a, const td_ready_task *b) {
  return order == TD_queue_order_heap ? td_task_goes_after(a->place, b->place)
                                      : td_push_goes_after(order, a->order, b->order);
}

/* td_ready_tasks_push takes a task in. td_ready_tasks_pop takes out the first, and
 * td_ready_tasks_remove the one at a place of the heap; there is one. */
void td_ready_tasks_push(td_ready_tasks *tasks, td_ready_task task);
td_ready_task td_ready_tasks_pop(td_ready_tasks *tasks);
td_ready_task td_ready_tasks_remove(td_ready_tasks *tasks, size_t at);

/* td_ready_tasks_expire: the graph task of the task at this place of the heap is gone. The task
 * stays where it is, and counts as deepest from now on. So it is in the engine, which asks for the
 * depth each time that it compares two tasks. */
void td_ready_tasks_expire(td_ready_tasks *tasks, size_t at);

void td_ready_tasks_fini(td_ready_tasks *tasks);
