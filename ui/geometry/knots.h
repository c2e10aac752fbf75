/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where classes of nodes would lead to each other in a cycle, ranks of nodes that cut the cycles.
 * Pure functions over arrays; time and memory grow with nodes, edges and classes. Any thread. */
#pragma once

#include <stdint.h>

typedef struct td_knot_graph {
  uint32_t n_nodes, n_edges, n_classes;
  const uint32_t *from, *to; /* [n_edges] nodes */
  const uint32_t *class_of;  /* [n_nodes] */
} td_knot_graph;

/* td_knots_rank returns the rank of each node. A knot is a set of classes that all lead to each
 * other. A rank is the greatest number of steps from one class of the node's knot to another, on
 * paths to the node. So it is 0 outside knots. If the graph has no cycle, the graph of the pairs of
 * class and rank has none either. Nodes on and behind a cycle of the graph itself have some rank.
 * The caller frees. */
uint32_t *td_knots_rank(const td_knot_graph *graph);
