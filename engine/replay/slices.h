/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sorting a collected graph's edges and metadata by node, so that each node has its slices. Private
 * to engine/replay. Linear but for slices whose second key came out of order. */
#pragma once

#include "engine/replay/graph.h"

/* A node began in a graph task. */
typedef struct td_graph_run {
  uint32_t graph_task, node;
} td_graph_run;

/* td_graph_slice orders graph->edges by (from, output_nr) and graph->metadata by (node, input_nr),
 * makes graph->in_edges, and sets every node's slices; makes graph->ran of `runs` [graph->n_ran]
 * and sets every graph task's slice. False without memory. */
bool td_graph_slice(td_graph *graph, const td_graph_run *runs);
