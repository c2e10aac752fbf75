/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parts of a graph: what is near a node, and what lies between two nodes. Pure functions over
 * arrays; time and memory grow with nodes and edges. Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct td_reach_graph {
  uint32_t n_nodes, n_edges;
  const uint32_t *from, *to; /* [n_edges] nodes */
} td_reach_graph;

/* td_reach_neighbours returns the nodes that are at most so many edges away from a node, in either
 * direction, and the node itself. If there are more than `most`, it returns the nearest of them.
 * `*n` is how many it returns, `*n_all` how many there are. They are in rising order. The caller
 * frees. */
uint32_t *td_reach_neighbours(const td_reach_graph *graph, uint32_t node, uint32_t distance,
                              uint32_t most, uint32_t *n, uint32_t *n_all);

/* td_reach_paths returns the nodes on all paths from one node to another along the edges, both ends
 * included. If there is no such path, it returns those on the paths back; without these `*n` is 0.
 * They are in rising order. The caller frees. */
uint32_t *td_reach_paths(const td_reach_graph *graph, uint32_t from, uint32_t to, uint32_t *n);
