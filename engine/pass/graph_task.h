/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GraphTask: one backward pass: what it wants, how far it is, and how it ended. Held by the thread
 * that called execute; queued tasks refer to it weakly, so that tasks left over after an error are
 * thrown away. */
#pragma once

#include "engine/graph/now.h"
#include "engine/graph/thread_locals.h"
#include "engine/graph/warnings.h"
#include "engine/pass/engine.h"
#include "engine/pass/node_table.h"
#include "engine/pass/ready_queue.h"

typedef struct td_final_callback td_final_callback;
typedef struct td_scheduler_2017 td_scheduler_2017;
typedef struct td_pass_streams td_pass_streams;

struct td_graph_task {
  td_refcount refs;      /* of the pass */
  td_refcount weak_refs; /* of the memory; all strong references together hold one */
  uint32_t id;
  uint32_t reentrant_depth;
  bool keep_graph, create_graph, accumulate_grad, selective; /* selective: exec_info is not empty */
  bool exit_on_error;      /* complete at the first error, whatever is outstanding */
  bool single_threaded;    /* its caller switched multithreading off: route.h */
  td_thread_locals locals; /* (owned) of the caller: what nodes and final callbacks see */
  const td_edge *roots;    /* (borrowed from the caller of execute) [n_roots] */
  uint32_t n_roots;
  td_device owner; /* worker device of the calling thread: TD_CPU for a user thread */
  td_ready_queue *cpu_ready_queue; /* (owned reference) the calling thread's */
  _Atomic uint64_t outstanding;    /* tasks pushed and not finished */
  _Atomic bool has_error;
  _Atomic bool future_claimed; /* somebody settles the result */
  _Atomic bool future_done;    /* released after result and captured are written */
  td_lock lock;                /* guards what follows */
  pthread_cond_t done;
  td_node_table nodes;
  uint32_t n_parked;    /* buffers in not_ready */
  td_tensor **captured; /* (owned references) [n_captured] */
  uint32_t n_captured;
  td_pass_streams *streams; /* (owned) or NULL: node_stream.h */
  td_status result;
  td_error error; /* (owned) why it failed */
  td_warnings warnings;
  pthread_mutex_t callbacks_mutex;    /* guards what follows */
  td_final_callback *final_callbacks; /* (owned) in order; those at work stay */
  td_scheduler_2017 *scheduler_2017;  /* (owned) or NULL: the engine's own rules */
};

td_graph_task *td_graph_task_new(const td_execute_options *options, uint32_t reentrant_depth,
                                 td_ready_queue *cpu_ready_queue);
void td_graph_task_unref(td_graph_task *graph_task);

/* A weak reference holds the memory and may be turned into a strong one while the pass lives. */
td_graph_task *td_graph_task_weak_ref(td_graph_task *graph_task);
void td_graph_task_weak_unref(td_graph_task *graph_task);
bool td_graph_task_try_ref(td_graph_task *graph_task);
bool td_graph_task_is_alive(td_graph_task *graph_task);

/* td_graph_task_compute_dependencies counts the edges into every node that can be reached from
 * root. Nodes whose topological_nr is below min_topo are not followed: no path leads from them to a
 * wanted one. */
void td_graph_task_compute_dependencies(td_graph_task *graph_task, td_node *root,
                                        uint64_t min_topo);

/* td_graph_task_emit_dependencies tells the tape of the counts, where others than this did them. */
void td_graph_task_emit_dependencies(const td_graph_task *graph_task);

/* td_graph_task_count_push is called by the queue under its lock, td_graph_task_count_done after a
 * task. td_graph_task_is_completed tells whether there is nothing left to do: nothing outstanding.
 * Several threads may find it so. */
void td_graph_task_count_push(td_graph_task *graph_task);
void td_graph_task_count_done(td_graph_task *graph_task);
bool td_graph_task_is_completed(const td_graph_task *graph_task);

/* td_graph_task_complete settles the result (once; later calls wait for it): an error if buffers
 * are left waiting, else final callbacks are called, under the graph task's lock, and the first
 * that fails gives the error. td_graph_task_fail settles it with an error, which it takes; an error
 * after completion is ignored. td_graph_task_wait waits until it is settled. */
void td_graph_task_complete(td_graph_task *graph_task);
void td_graph_task_wait(td_graph_task *graph_task);
void td_graph_task_fail(td_graph_task *graph_task, td_status status, td_error *error);
bool td_graph_task_is_done(td_graph_task *graph_task);

/* td_checkpoint_is_valid: a nested backward of everything makes sense here: neither the calling
 * thread's pass nor one around it wants chosen gradients alone. */
bool td_checkpoint_is_valid(void);
