/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a check remembers of each node in one graph task. Private to engine/profile. One thread. */
#pragma once

#include "engine/base/hash_index.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct td_check_task {
  uint32_t node;
  uint32_t left; /* dependencies */
  bool counted;  /* its `dependency` was seen */
  bool parked;   /* in not_ready */
  bool pushed;
  bool began;
  uint32_t exposed_to, exposed_nr; /* the node that may add to this input by itself, or TD_NONE */
} td_check_task;

typedef struct td_check_tasks {
  td_check_task *items; /* (owned) */
  uint32_t n, capacity;
  td_hash_index numbers; /* by node */
} td_check_tasks;

/* td_check_tasks_get finds a node or adds it; the pointer is good until the next call. */
td_check_task *td_check_tasks_get(td_check_tasks *tasks, uint32_t node);
void td_check_tasks_fini(td_check_tasks *tasks);
