/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gradients that tasks handed on, noted before it is known which tasks there will be. Private to
 * engine/profile. Zero-initialise. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/model/pass_model.h"

typedef struct td_handing {
  uint32_t from, to_node; /* a task; a node of the same pass */
  uint64_t offset_ns;
  uint32_t bytes;
  uint32_t piece; /* of the task */
} td_handing;

typedef struct td_handings {
  td_handing *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map tasks; /* by graph task and node: 1 + the task */
} td_handings;

/* td_handings_know says that a node of a graph task is this task. */
void td_handings_know(td_handings *handings, uint32_t graph_task, uint32_t node, uint32_t task);

/* td_handings_add returns the number of the handing. */
uint32_t td_handings_add(td_handings *handings, td_handing handing);

/* td_handings_make makes the deliveries of a model that has its passes and tasks. A node that was
 * never popped gets none. The caller frees model->deliveries. */
void td_handings_make(const td_handings *handings, td_pass_model *model);
void td_handings_clear(td_handings *handings);
void td_handings_fini(td_handings *handings);
