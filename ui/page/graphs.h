/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The graphs of a page: that of an outermost pass, and those of the passes that run meanwhile.
 * Their geometry is the window's. Edges of all graphs have numbers from 0. Private to ui/page. One
 * thread. */
#pragma once

#include "engine/base/json.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/scene.h"
#include "ui/page/nodes.h"

typedef struct td_page_graph {
  td_graph_scene *scene; /* (owned) */
  uint32_t graph_task;
  uint32_t n_cards; /* scene nodes that are on the page: the first ones */
} td_page_graph;

typedef struct td_page_edge {
  uint32_t graph, edge; /* of the scene */
  uint32_t from, to;    /* nodes of the page */
} td_page_edge;

typedef struct td_page_graphs {
  const td_page_nodes *nodes; /* (borrowed) */
  td_page_graph *items;       /* (owned) the outermost pass first */
  uint32_t n, capacity;
  uint32_t n_left_out; /* passes */
  td_page_edge *edges; /* (owned) */
  uint32_t n_edges, edge_capacity;
  uint32_t *first_link;  /* (owned) [n_linked + 1] slices of links, by node of the page */
  uint32_t *links;       /* (owned) numbers of the edges from and to a node */
  uint32_t n_linked;     /* nodes of the page that were there when the graphs were made */
  uint32_t *first_place; /* (owned) [n_linked + 1] slices of places, by node of the page */
  uint32_t *places;      /* (owned) the graphs that have a node */
} td_page_graphs;

/* td_page_graphs_init lays out the passes that begin in first .. end - 1, at most so many,
 * `graph_task` before all others, and gives their nodes numbers. */
void td_page_graphs_init(td_page_graphs *graphs, td_page_nodes *nodes, uint32_t graph_task,
                         uint64_t first, uint64_t end, uint32_t most);
void td_page_graphs_fini(td_page_graphs *graphs);

/* td_page_graphs_find returns the number of a pass's graph, or TD_NONE. */
uint32_t td_page_graphs_find(const td_page_graphs *graphs, uint32_t graph_task);

/* td_page_graphs_moved tells whether the gradient of an edge has reached the buffer at its end. */
bool td_page_graphs_moved(const td_page_graphs *graphs, const td_state *state, uint32_t edge);

/* td_page_graphs_write writes an array with an object for each graph. */
void td_page_graphs_write(const td_page_graphs *graphs, td_json *json);
