/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check_tasks.h"

#include "engine/base/alloc.h"

static td_check_task *
find_slot(const td_check_tasks *tasks, uint32_t node) {
  /* Fibonacci hashing, Knuth 6.4 */
  uint64_t hash = node * 0x9e3779b97f4a7c15ull;
  for (uint64_t at = hash >> 20;; at++) {
    td_check_task *slot = &tasks->slots[at & (tasks->capacity - 1)];
    if (!slot->used || slot->node == node) return slot;
  }
}

static void
grow(td_check_tasks *tasks) {
  td_check_tasks larger = {.n = tasks->n, .capacity = tasks->capacity ? 2 * tasks->capacity : 64};
  larger.slots = td_alloc(larger.capacity, sizeof *larger.slots);
  for (uint64_t i = 0; i < tasks->capacity; i++)
    if (tasks->slots[i].used) *find_slot(&larger, tasks->slots[i].node) = tasks->slots[i];
  free(tasks->slots);
  *tasks = larger;
}

td_check_task *
td_check_tasks_get(td_check_tasks *tasks, uint32_t node) {
  if (tasks->n >= tasks->capacity / 2) grow(tasks);
  td_check_task *slot = find_slot(tasks, node);
  if (!slot->used) {
    *slot = (td_check_task){.node = node, .used = true};
    tasks->n++;
  }
  return slot;
}

void
td_check_tasks_fini(td_check_tasks *tasks) {
  free(tasks->slots);
  *tasks = (td_check_tasks){0};
}
