/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The passes of a tape that visit nodes, and where their events lie: found without a catalog, in
 * the memory of the list. Private to engine/profile. */
#pragma once

#include "engine/trace/tape.h"

/* A pass. Its stream is the thread whose call from outside led to it; nested passes lie on the
 * stream of the outermost pass. */
typedef struct td_diff_task {
  uint32_t graph_task;  /* TD_NONE: visits that name no graph task */
  uint32_t stream;      /* thread that called the outermost pass around this one, or TD_NONE */
  uint64_t began;       /* event number, as far as is known */
  uint64_t first, last; /* of its events: where it begins, and those that tell about visits */
  uint64_t hash;        /* of what its nodes do; 0: nobody asked */
} td_diff_task;

typedef struct td_diff_tasks {
  td_diff_task *items; /* (owned) in the order in which they began */
  uint32_t n;
  bool has_edges;  /* the tape knows the outputs of edges: that of an import does not */
  bool has_shapes; /* it has what nodes expect as gradients */
} td_diff_tasks;

/* td_diff_tasks_list reads the tape once. TD_OUT_OF_MEMORY, or as td_tape_check_readable. */
td_status td_diff_tasks_list(td_tape *tape, td_diff_tasks *tasks, td_error *error);
void td_diff_tasks_fini(td_diff_tasks *tasks);
