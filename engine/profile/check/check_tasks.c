/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_tasks.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/events/event.h"

static inline uint32_t
node_of(const void *tasks, uint32_t number) {
  return ((const td_check_tasks *)tasks)->items[number - 1].node;
}

TD_HASH_INDEX_DEFINE(numbers, uint32_t, td_hash_number, node_of, TD_HASH_INDEX_EQUAL)

td_check_task *
td_check_tasks_get(td_check_tasks *tasks, uint32_t node) {
  uint32_t number = numbers_put(&tasks->numbers, tasks->n, node, tasks);
  if (number > tasks->n) {
    TD_GROW(tasks->items, tasks->n, tasks->capacity);
    tasks->items[tasks->n++] = (td_check_task){.node = node, .exposed_to = TD_NONE};
  }
  return &tasks->items[number - 1];
}

void
td_check_tasks_fini(td_check_tasks *tasks) {
  free(tasks->items);
  td_hash_index_fini(&tasks->numbers);
  *tasks = (td_check_tasks){0};
}
