/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One call of backward, and what each of its nodes waits for: dependencies and exec_info, counted
 * as the engine counts them. Private to this folder. */
#pragma once

#include "engine/base/hash_index.h"
#include "engine/trace/derive/node.h"

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

/* A gradient as it was returned or given. */
typedef struct td_rgradient {
  uint32_t number; /* of the output, or of the root */
  bool defined;
  int32_t device;
  uint32_t bytes;
} td_rgradient;

typedef struct td_rroot {
  uint32_t node, input_nr;
  td_rgradient gradient;
} td_rroot;

typedef struct td_rpass {
  uint32_t graph_task, depth, owner, outstanding;
  uint32_t refs;      /* its call, its entries in queues, and threads that have yet to hand on */
  uint32_t n_working; /* nodes that threads run, or have yet to hand on */
  bool create_graph, accumulate_grad, selective;
  bool known; /* all of its call is on the tape; dependencies are counted */
  bool over, lost, disordered;
  uint32_t root;               /* the only one, or the GraphRoot */
  uint32_t n_roots, n_outputs; /* of the call */
  td_rroot *roots;             /* (owned) [n_roots_seen] */
  uint32_t n_roots_seen, roots_capacity;
  td_redge *outputs; /* (owned) [n_outputs_seen] node TD_NONE: nothing leads there */
  uint32_t n_outputs_seen, outputs_capacity;
  struct td_rqueue *queue; /* the calling thread's */
  td_rtask *tasks;         /* (owned) in the order found */
  uint32_t n_tasks, tasks_capacity;
  td_hash_index numbers; /* 1 + place in tasks, by node */
} td_rpass;

/* td_rpass_new takes in a call; the caller has the only reference. td_rpass_add_root and
 * td_rpass_add_output take in what it was given. They return true once that is all. */
td_rpass *td_rpass_new(const td_event_graph_task_begin *event);
bool td_rpass_add_root(td_rpass *pass, const td_event_root_gradient *event);
bool td_rpass_add_output(td_rpass *pass, const td_event_wanted_output *event);
void td_rpass_unref(td_derivation *self, td_rpass *pass);

/* td_rpass_count walks the graph from the roots. It returns false if a part of it is not on the
 * tape, or if the walk is longer than the derivation may be. */
bool td_rpass_count(td_derivation *self, td_rpass *pass);

/* td_rpass_find returns what the pass knows of a node, or NULL. */
td_rtask *td_rpass_find(const td_rpass *pass, uint32_t node);

/* td_rtask_runs returns true if the engine calls the node's function. td_rtask_wanted returns true
 * also if the engine only captures its gradients. td_rpass_has_graph_root: several roots hang under
 * one. */
bool td_rtask_runs(const td_rpass *pass, const td_rtask *task);
bool td_rtask_wanted(const td_rpass *pass, const td_rtask *task);

static inline bool
td_rpass_has_graph_root(const td_rpass *pass) {
  return pass->n_roots != 1;
}
