/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a reconstruction remembers: nodes and their edges, passes and what each of their nodes waits
 * for, queues, threads. Private to reconstruct*.c, which hold its lock. */
#pragma once

#include "engine/base/hash_index.h"
#include "engine/events/ring.h"
#include "engine/probe/reconstruct.h"

typedef struct td_rnode {
  uint32_t id;
  uint64_t sequence_nr;
  uint32_t topological_nr;
  int32_t device;
  uint32_t n_inputs, n_edges;
  uint32_t n_passes; /* that may still ask for it */
  bool gone;         /* freed when no pass asks any more */
  td_seen_edge edges[];
} td_rnode;

/* One node in one pass. */
typedef struct td_rtask {
  td_rnode *node;
  uint32_t dependencies;
  uint32_t n_captures, first_capture; /* index into the pass's outputs */
  int32_t device;                     /* of the gradients that came: where it will run before 2.6 */
  uint64_t filled;                    /* inputs that a gradient has come to; of the first 64 */
  bool needed, counted, buffered, pushed, begun;
} td_rtask;

struct td_rqueue;

typedef struct td_rpass {
  uint32_t graph_task; /* TD_NONE until it is announced */
  uint32_t refs;       /* its call, and its entries in queues */
  uint32_t number;     /* of td_reconstruct_pass_begin */
  int64_t engine_task; /* -1 until known */
  uint32_t depth, owner, outstanding;
  bool keep_graph, create_graph, accumulate_grad;
  bool selective, over, lost, in_pool, disordered;
  uint32_t n_roots, n_outputs;
  td_seen_edge *outputs; /* (owned) */
  td_seen_gradient root_gradient;
  uint32_t root_input_nr;
  td_rnode *root;          /* the only one, or the GraphRoot */
  struct td_rpass *outer;  /* (borrowed) whose node called this one */
  td_rnode *outer_node;    /* (borrowed) */
  struct td_rqueue *queue; /* the calling thread's */
  td_rtask *tasks;         /* (owned) in the order found */
  uint32_t n_tasks, tasks_capacity;
  td_hash_index numbers; /* 1 + place in tasks, by node */
} td_rpass;

typedef struct td_rentry {
  td_rpass *pass; /* (owned reference) */
  td_rnode *node;
} td_rentry;

typedef struct td_rqueue {
  uint32_t id;
  int32_t device;
  td_rentry *heap; /* (owned) */
  size_t n, capacity;
  struct td_rthread *server; /* (borrowed) that was last seen to serve it */
} td_rqueue;

typedef struct td_running {
  td_rpass *pass;
  td_rnode *node;
} td_running;

typedef struct td_rthread {
  uint32_t id;
  uint32_t recording; /* in which it was seen */
  td_ring *ring;      /* (borrowed) written under the lock alone */
  td_rqueue *queue;   /* that it pops, or NULL */
  bool is_device;
  td_running *running; /* (owned) nodes that began and have not ended, innermost last */
  size_t n_running, running_capacity;
  td_rpass **calls; /* (owned) its calls of backward, innermost last */
  size_t n_calls, calls_capacity;
  td_running ended;            /* whose gradients are yet to be handed on, or NULL */
  td_seen_gradient *gradients; /* (owned) of that one */
  uint32_t n_gradients;
  struct td_rthread *next;
} td_rthread;

/* nodes */
td_rnode *td_rnode_add(const td_seen_node *seen);
td_rnode *td_rnode_find(uint32_t id);
void td_rnode_hold(td_rnode *node);
void td_rnode_release(td_rnode *node);
void td_rnode_drop(uint32_t id); /* it is gone, once no pass asks */
void td_rnode_forget_all(void);  /* numbers begin anew; left where they are */

/* passes */
td_rpass *td_rpass_new(const td_seen_pass *seen);
void td_rpass_unref(td_rpass *pass);
td_rtask *td_rpass_find(const td_rpass *pass, const td_rnode *node); /* or NULL */
bool td_rtask_runs(const td_rpass *pass, const td_rtask *task);
bool td_rtask_wanted(const td_rpass *pass, const td_rtask *task);

/* queues */
void td_rqueue_push(td_rqueue *queue, td_rpass *pass, td_rnode *node);
td_rentry td_rqueue_pop(td_rqueue *queue);

/* td_rqueue_take takes one out that is not first; false where it is not there. */
bool td_rqueue_take(td_rqueue *queue, const td_rpass *pass, const td_rnode *node);
void td_rqueue_forget(td_rqueue *queue, td_rpass *pass); /* without a word on the tape */
