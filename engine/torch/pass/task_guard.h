/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The calling thread while it works for a graph task: at one of its nodes, or at a final callback.
 * The thread has the grad mode and the settings of the pass meanwhile. Private to
 * engine/torch/pass. */
#pragma once

#include "engine/torch/graph/variable.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/graph_task.h"

/* What the graph task wants of the thread, and what was there before. On the thread's stack. */
typedef struct td_task_guard {
  td_graph_task *graph_task;
  td_now outer;
  td_thread_locals outer_locals;
  bool outer_grad_mode;
} td_task_guard;

static inline void
td_task_guard_enter(td_task_guard *guard, td_graph_task *graph_task, td_node *node) {
  guard->graph_task = graph_task;
  guard->outer = td_now_self;
  td_now_self = (td_now){.graph_task = graph_task,
                         .warnings = &graph_task->warnings,
                         .node = node,
                         .graph_task_id = graph_task->handle.id};
  td_thread_self.n_selective += graph_task->selective;
  guard->outer_grad_mode = td_grad_mode();
  td_grad_mode_set(graph_task->create_graph);
  td_thread_locals_enter(&graph_task->locals, &guard->outer_locals);
}

static inline void
td_task_guard_leave(td_task_guard *guard) {
  td_thread_locals_leave(&guard->graph_task->locals, &guard->outer_locals);
  td_grad_mode_set(guard->outer_grad_mode);
  td_thread_self.n_selective -= guard->graph_task->selective;
  td_now_self = guard->outer;
}
