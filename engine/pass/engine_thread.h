/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the calling thread is to the engine, PyTorch's worker_device, current_depth, total_depth and
 * local_ready_queue. What it works on just now is in engine/graph/now.h. Read and written by its
 * own thread alone. Private to engine/pass. */
#pragma once

#include "engine/graph/variable.h"
#include "engine/pass/graph_task.h"

#define TD_NO_DEVICE ((td_device)-2)

typedef struct td_engine_thread {
  td_device device;            /* TD_NO_DEVICE outside a pass; a device thread's own for ever */
  uint32_t current_depth;      /* nested passes on this thread */
  uint32_t total_depth;        /* re-entrancy of the work it does, whose outer part others may do */
  uint32_t n_selective;        /* passes that want chosen gradients, of those it works in */
  td_ready_queue *queue;       /* (owned reference) kept for the thread's life */
  struct {                     /* a call that runs CPU nodes of one pass from a queue of its own */
    td_graph_task *graph_task; /* (borrowed) or NULL */
    td_ready_queue *queue;     /* (borrowed) */
  } call;
} td_engine_thread;

extern _Thread_local td_engine_thread td_thread_self;

/* A task at work: what its graph task wants of the thread, and what was there before. */
typedef struct td_task_guard {
  td_graph_task *graph_task;
  td_now outer;
  td_thread_locals outer_locals;
  bool outer_grad_mode;
} td_task_guard;

static inline void
td_task_guard_enter(td_task_guard *guard, td_graph_task *graph_task, td_node *node) {
  guard->graph_task = graph_task;
  guard->outer = td_thread_now;
  td_thread_now = (td_now){.graph_task = graph_task,
                           .warnings = &graph_task->warnings,
                           .node = node,
                           .graph_task_id = graph_task->id};
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
  td_thread_now = guard->outer;
}
