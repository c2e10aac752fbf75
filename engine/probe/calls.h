/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The calls of backward at level 2, and the nodes that run for them. Hooks see the graph, the
 * calls, and where each node begins and ends: that goes on the tape. What follows from it, whoever
 * reads the tape derives: Note [Raw tapes] in engine/trace/derive/derive.h. Any thread. Each
 * function holds one lock, calls nobody back, and stamps its events under that lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sequence number of a node if nobody knows it. */
#define TD_SEQUENCE_NR_UNKNOWN (UINT64_MAX - 1)

typedef struct td_seen_edge {
  uint32_t node; /* TD_NONE: PyTorch wants no gradient here */
  uint32_t input_nr;
} td_seen_edge;

typedef struct td_seen_node {
  const char *name;
  uint64_t sequence_nr;
  int32_t device;
  uint32_t n_inputs, n_edges, stack;
  const td_seen_edge *edges; /* to nodes that are known already */
} td_seen_node;

/* What a node returned for one edge, or what the program gave to a root. */
typedef struct td_seen_gradient {
  bool defined;
  int32_t device;
  uint64_t n_bytes;
} td_seen_gradient;

typedef struct td_seen_call {
  bool keep_graph, create_graph, accumulate_grad;
  uint32_t n_roots, n_outputs;
  const td_seen_edge *roots, *outputs;
  const td_seen_gradient *gradients; /* [n_roots] */
  const uint32_t *nodes;             /* [n_nodes] that have hooks for this call */
  size_t n_nodes;
  uint64_t next_sequence_nr; /* for the GraphRoot, if there is one */
} td_seen_call;

/* td_calls_start begins a recording. It forgets what an earlier recording, or the parent of this
 * fork, had under way. */
void td_calls_start(void);

/* td_calls_add_node puts a node on the tape and returns its number. Its children are known already.
 * td_calls_free_node: PyTorch freed the node. */
uint32_t td_calls_add_node(const td_seen_node *seen);
void td_calls_free_node(uint32_t node);

/* td_calls_begin: the calling thread calls backward. The return value is the number of the call.
 * The call becomes a pass on the tape when its first node begins, or when it ends well. So
 * arguments that the engine refuses leave no pass there. */
uint32_t td_calls_begin(const td_seen_call *seen);

/* td_calls_end: backward returns (error NULL), or raises these words. Returns the graph task, or
 * TD_NONE if it never began. */
uint32_t td_calls_end(uint32_t call, const char *error);

/* td_calls_begin_node: the calling thread calls a node's function. `engine_task` is the engine's
 * own number of the pass, or -1. Returns the graph task, or TD_NONE if no known call wants the
 * node. *is_root: the caller of backward gave the node a gradient. */
uint32_t td_calls_begin_node(uint32_t node, int64_t engine_task, bool *is_root);

/* td_calls_end_node: the node's function returned these gradients. */
void td_calls_end_node(uint32_t node, const td_seen_gradient *gradients, uint32_t n);
