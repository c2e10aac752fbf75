/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One call of backward, and what each of its nodes waits for: dependencies and exec_info, counted
 * as the engine counts them. The caller holds the lock of reconstruct.c. */
#pragma once

#include "engine/base/hash_index.h"
#include "engine/probe/reconstruct/node.h"

struct td_rpass;
struct td_rqueue;

/* One node in one pass. */
typedef struct td_rtask {
  td_rnode *node;
  struct td_rpass *pass; /* (borrowed) */
  uint32_t dependencies;
  uint32_t n_captures, first_capture; /* index into the pass's outputs */
  int32_t device;                     /* of the gradients that came; before 2.6 it runs there */
  uint64_t filled;                    /* bits: which of the first 64 inputs have a gradient */
  bool needed, counted, buffered, pushed, begun;
} td_rtask;

typedef struct td_rpass {
  uint32_t graph_task; /* TD_NONE until the tape has it */
  uint32_t refs;       /* its call, and its entries in queues */
  uint32_t number;     /* what td_reconstruct_pass_begin returned */
  int64_t engine_task; /* -1 until known */
  uint32_t depth, owner, outstanding;
  bool keep_graph, create_graph, accumulate_grad;
  bool selective, over, lost, in_pool, disordered;
  uint32_t n_roots, n_outputs;
  td_seen_edge *outputs; /* (owned) */
  td_seen_gradient root_gradient;
  uint32_t root_input_nr;
  td_rnode *root;          /* the only one, or the GraphRoot */
  struct td_rpass *outer;  /* (borrowed) a node of that pass called this one */
  td_rnode *outer_node;    /* (borrowed) */
  struct td_rqueue *queue; /* the calling thread's */
  td_rtask *tasks;         /* (owned) in the order found */
  uint32_t n_tasks, tasks_capacity;
  td_hash_index numbers; /* 1 + place in tasks, by node */
} td_rpass;

/* td_rpass_new walks the graph from the call's roots; the caller has the only reference. */
td_rpass *td_rpass_new(const td_seen_pass *seen);
void td_rpass_unref(td_rpass *pass);

/* td_rpass_find returns what the pass knows of a node, or NULL. */
td_rtask *td_rpass_find(const td_rpass *pass, const td_rnode *node);

/* td_rtask_runs returns true if the engine calls the node's function. td_rtask_wanted returns true
 * also if the engine only captures its gradients. */
bool td_rtask_runs(const td_rpass *pass, const td_rtask *task);
bool td_rtask_wanted(const td_rpass *pass, const td_rtask *task);
