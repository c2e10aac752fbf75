/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GraphTask: one backward pass: what it wants, how far it is, and how it ended. Held by the thread
 * that called execute; queued tasks refer to it weakly, so that tasks left over after an error are
 * thrown away. */
#pragma once

#include "engine/torch/graph/now.h"
#include "engine/torch/graph/thread_locals.h"
#include "engine/torch/graph/warnings.h"
#include "engine/torch/pass/execute_options.h"
#include "engine/torch/pass/final_callback.h"
#include "engine/torch/pass/node_table.h"
#include "engine/torch/pass/pass_streams.h"
#include "engine/torch/pass/ready_queue.h"
#include "engine/torch/pass/scheduler.h"

struct td_graph_task {
  td_graph_task_handle handle;                               /* first: what queued tasks refer to */
  bool keep_graph, create_graph, accumulate_grad, selective; /* selective: exec_info is not empty */
  bool single_threaded;    /* its caller switched multithreading off: route.h */
  td_thread_locals locals; /* (owned) of the caller: what nodes and final callbacks see */
  const td_edge *roots;    /* (borrowed from the caller of execute) [n_roots] */
  uint32_t n_roots;
  td_device owner; /* worker device of the calling thread: TD_CPU for a user thread */
  td_ready_queue *cpu_ready_queue; /* (owned reference) the calling thread's */
  _Atomic bool has_error;
  _Atomic bool future_claimed; /* somebody settles the result */
  _Atomic bool future_done;    /* released after result and captured are written */
  td_lock lock;                /* guards what follows */
  pthread_cond_t done;
  td_node_table nodes;
  uint32_t n_parked;    /* buffers in not_ready */
  td_tensor **captured; /* (owned references) [n_captured] */
  uint32_t n_captured;
  td_pass_streams *streams; /* (owned) or NULL: no accelerators */
  td_status result;
  td_error error; /* (owned) why it failed */
  td_warnings warnings;
  td_final_callback_list final_callbacks;
  const td_scheduler *scheduler; /* NULL: the engine's own */
  void *scheduler_data;          /* (owned) that scheduler's own */
};

td_graph_task *td_graph_task_new(const td_execute_options *options, uint32_t reentrant_depth,
                                 td_ready_queue *cpu_ready_queue);
static inline td_graph_task *
td_graph_task_ref(td_graph_task *graph_task) {
  td_refcount_inc(&graph_task->handle.refs);
  return graph_task;
}

void td_graph_task_unref(td_graph_task *graph_task);

/* td_graph_task_weak_ref returns a weak reference, for a task in a queue. td_graph_task_of returns
 * the graph task of a handle while somebody holds a strong reference. */
static inline td_graph_task_handle *
td_graph_task_weak_ref(td_graph_task *graph_task) {
  return td_graph_task_handle_ref(&graph_task->handle);
}

static inline td_graph_task *
td_graph_task_of(td_graph_task_handle *handle) {
  return (td_graph_task *)handle;
}

/* td_graph_task_count_done is called after a task. td_graph_task_is_completed tells whether there
 * is nothing left to do: nothing outstanding. Several threads may find it so. td_graph_task_is_done
 * tells whether the result is settled (completion.h). */
void td_graph_task_count_done(td_graph_task *graph_task);
bool td_graph_task_is_completed(const td_graph_task *graph_task);
bool td_graph_task_is_done(td_graph_task *graph_task);
