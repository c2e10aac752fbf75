/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What follows from what hooks can see. Level 2 sees the graph, the calls of backward, and each
 * node begin and end on its thread; dependencies, queues, buffers and counts follow by the engine's
 * rules (Note [Reconstruction] in reconstruct.c). Any thread; each call holds one lock, calls
 * nobody back, and stamps its events under that lock. */
#pragma once

#include "engine/events/event.h"

/* Of a node whose sequence number is not known. */
#define TD_SEQUENCE_NR_UNKNOWN (UINT64_MAX - 1)

typedef struct td_seen_edge {
  uint32_t node; /* TD_NONE: no gradient wanted */
  uint32_t input_nr;
} td_seen_edge;

typedef struct td_seen_node {
  const char *name;
  uint64_t sequence_nr;
  int32_t device;
  uint32_t n_inputs, n_edges, stack;
  const td_seen_edge *edges; /* to nodes already told of */
} td_seen_node;

/* What came out of a node for one edge, or what a root was given. */
typedef struct td_seen_gradient {
  bool defined;
  int32_t device;
  uint64_t n_bytes;
} td_seen_gradient;

typedef struct td_seen_pass {
  bool keep_graph, create_graph, accumulate_grad;
  uint32_t n_roots, n_outputs;
  const td_seen_edge *roots, *outputs;
  const td_seen_gradient *gradients; /* [n_roots] */
  uint64_t next_sequence_nr;         /* which the GraphRoot will take, if there is one */
} td_seen_pass;

typedef struct td_reconstruct_options {
  bool sums_in_place; /* PyTorch 2: sums go into the first gradient, where nobody else may look */
  bool queues_known;  /* sequence numbers are: without them there are no queues to tell of */
} td_reconstruct_options;

void td_reconstruct_start(td_reconstruct_options options);

/* td_reconstruct_node tells of a node, once its children were told of, and returns its number. Its
 * topological number is one more than its children's greatest. td_reconstruct_node_free: it is no
 * more. */
uint32_t td_reconstruct_node(const td_seen_node *seen);
void td_reconstruct_node_free(uint32_t node);

/* td_reconstruct_pass_begin: the calling thread calls backward. The pass gets its number on the
 * tape when its first node begins, or it ends well: arguments that the engine refuses make none. */
uint32_t td_reconstruct_pass_begin(const td_seen_pass *seen);

/* td_reconstruct_pass_end: backward returns, or raises these words (NULL: it returns). */
void td_reconstruct_pass_end(uint32_t pass, const char *error);

/* td_reconstruct_begin and _end: the calling thread calls a node's function; it has returned, with
 * so many gradients. `engine_task` is the engine's own number of the pass, or -1. Begin returns the
 * graph task, or TD_NONE where no pass is known to want the node. */
uint32_t td_reconstruct_begin(uint32_t node, int64_t engine_task);
void td_reconstruct_end(uint32_t node, const td_seen_gradient *gradients, uint32_t n);
