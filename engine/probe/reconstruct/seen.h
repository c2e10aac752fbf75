/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What hooks see of PyTorch: nodes, edges, gradients and calls of backward. */
#pragma once

#include <stdbool.h>
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

/* What a node gave to one edge, or what the program gave to a root. */
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
  uint64_t next_sequence_nr;         /* for the GraphRoot, if there is one */
} td_seen_pass;
