/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GraphTask: one backward pass: what it wants, how far it is, and how it ended. Held by the thread
 * that called execute; queued tasks refer to it weakly, so that tasks left over after an error are
 * thrown away. */
#pragma once

#include "engine/autograd/engine.h"
#include "engine/autograd/node_table.h"
#include "engine/autograd/ready_queue.h"

struct td_graph_task {
  td_refcount refs;      /* of the pass */
  td_refcount weak_refs; /* of the memory; all strong references together hold one */
  uint32_t id;
  uint32_t reentrant_depth;
  bool keep_graph, create_graph, accumulate_grad, selective; /* selective: exec_info is not empty */
  bool single_threaded; /* its caller switched multithreading off (route.h) */
  td_device owner;      /* worker device of the calling thread: TD_CPU for a user thread */
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
  td_status result;
  td_error error; /* (owned) why it failed */
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
 * wanted one. td_graph_task_init_to_execute marks, for the wanted outputs, what must run. */
void td_graph_task_compute_dependencies(td_graph_task *graph_task, td_node *root,
                                        uint64_t min_topo);
void td_graph_task_init_to_execute(td_graph_task *graph_task, td_node *root, const td_edge *outputs,
                                   uint32_t n_outputs, uint64_t min_topo);

/* td_graph_task_count_push is called by the queue under its lock. td_graph_task_count_done returns
 * whether the pass is complete: nothing outstanding. */
void td_graph_task_count_push(td_graph_task *graph_task);
bool td_graph_task_count_done(td_graph_task *graph_task);

/* td_graph_task_complete settles the result (once; later calls wait for it): an error if buffers
 * are left waiting. td_graph_task_fail settles it with an error, which it takes. */
void td_graph_task_complete(td_graph_task *graph_task);
void td_graph_task_fail(td_graph_task *graph_task, td_status status, td_error *error);
bool td_graph_task_is_done(td_graph_task *graph_task);

/* The graph task that the calling thread works for, NULL outside. td_graph_task_wants tells whether
 * that pass wants anything from a node: true outside. */
td_graph_task *td_graph_task_now(void);
void td_graph_task_set_now(td_graph_task *graph_task);
uint32_t td_graph_task_now_id(void);
bool td_graph_task_wants(const td_node *node);
