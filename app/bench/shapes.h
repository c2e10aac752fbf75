/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Backward graphs of realistic shapes, for tests and for the bench: residual networks,
 * transformers, unrolled LSTMs with shared weights, and random wide graphs. Deterministic. Any
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum td_graph_shape {
  TD_SHAPE_RESNET,
  TD_SHAPE_TRANSFORMER,
  TD_SHAPE_LSTM,
  TD_SHAPE_WIDE,
  TD_N_SHAPES
} td_graph_shape;

typedef struct td_made_graph {
  uint32_t n_nodes, n_edges;
  uint32_t *from, *to; /* (owned) [n_edges] in the direction in which gradients flow */
  const char **name;   /* (owned) [n_nodes] constant strings */
  uint8_t *port;       /* (owned) [n_nodes] 1: an AccumulateGrad */
  uint32_t node_capacity, edge_capacity, port_capacity;
} td_made_graph;

const char *td_graph_shape_name(td_graph_shape shape);

/* td_made_graph_new makes a graph of about n nodes (at least a dozen). */
td_made_graph *td_made_graph_new(td_graph_shape shape, uint32_t n);
void td_made_graph_free(td_made_graph *graph);
