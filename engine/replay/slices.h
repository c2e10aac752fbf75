/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sorting a collected graph's edges and metadata by node, so that each node has its slices. Private
 * to engine/replay. Linear but for slices whose second key came out of order. */
#pragma once

#include "engine/replay/graph.h"

/* td_graph_slice orders graph->edges by (from, output_nr) and graph->metadata by (node, input_nr),
 * makes graph->in_edges, and sets every node's slices. False without memory. */
bool td_graph_slice(td_graph *graph);
