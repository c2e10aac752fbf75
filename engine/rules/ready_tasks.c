/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/rules/ready_tasks.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"

static inline bool
goes_after(td_ready_task a, td_ready_task b, void *context) {
  return td_ready_task_goes_after(((const td_ready_tasks *)context)->order, &a, &b);
}

TD_HEAP_DEFINE(tasks, td_ready_task, TD_HEAP_GET, goes_after, TD_HEAP_SET)

void
td_ready_tasks_push(td_ready_tasks *tasks, td_ready_task task) {
  TD_GROW(tasks->heap, tasks->n, tasks->capacity);
  tasks_push(tasks->heap, tasks->n++, task, tasks);
}

td_ready_task
td_ready_tasks_remove(td_ready_tasks *tasks, size_t at) {
  return tasks_remove(tasks->heap, tasks->n--, at, tasks);
}

td_ready_task
td_ready_tasks_pop(td_ready_tasks *tasks) {
  return td_ready_tasks_remove(tasks, 0);
}

void
td_ready_tasks_expire(td_ready_tasks *tasks, size_t at) {
  tasks->heap[at].place.depth = TD_TASK_DEPTH_GONE;
}

void
td_ready_tasks_fini(td_ready_tasks *tasks) {
  free(tasks->heap);
  *tasks = (td_ready_tasks){0};
}
