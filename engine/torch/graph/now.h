/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the calling thread does for a backward pass just now. engine/torch/pass writes it around
 * every node and every final callback (task_guard.h); everybody may read it, for the own thread. */
#pragma once

#include "engine/events/event.h"
#include "engine/torch/graph/edge.h"

typedef struct td_graph_task td_graph_task;
typedef struct td_warnings td_warnings;

typedef struct td_now {
  td_graph_task *graph_task; /* (borrowed) the innermost one; NULL outside a pass */
  td_warnings *warnings;     /* (borrowed) where that graph task collects warnings, or NULL */
  td_node *node;             /* (borrowed) the node that runs, or whose hook runs; NULL outside, and
                                in a final callback */
  uint32_t graph_task_id;    /* as in events; TD_NONE outside a pass */
} td_now;

extern _Thread_local td_now td_now_self;

static inline td_graph_task *
td_graph_task_now(void) {
  return td_now_self.graph_task;
}

static inline uint32_t
td_graph_task_now_id(void) {
  return td_now_self.graph_task_id;
}

static inline td_node *
td_node_now(void) {
  return td_now_self.node;
}
