/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The graph of an outermost pass, and of the passes inside its nodes: what the engine knew before
 * it ran them. Zero-initialise. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/replay/catalog.h"

/* A node in one of the passes. */
typedef struct td_graph_node {
  uint32_t node, pass; /* pass: its number here */
  uint32_t queue;      /* that it entered, or TD_NONE */
  uint32_t first, n;   /* its edges */
  uint64_t sequence_nr;
  bool is_needed; /* for the results that the program asked for */
} td_graph_node;

typedef struct td_graph_pass {
  uint32_t graph_task, depth;
  uint32_t outer;     /* number of the pass around it; that of the outermost is 0 */
  uint32_t root;      /* place of the node */
  uint32_t caller;    /* place of the node that it is inside, or TD_NONE: a final callback */
  bool is_restricted; /* the program asked for some gradients: other nodes do not run */
} td_graph_pass;

typedef struct td_pass_graph {
  td_graph_pass *passes; /* (owned) the outermost first */
  td_graph_node *nodes;  /* (owned) */
  uint32_t *targets;     /* (owned) nodes to which edges lead */
  uint32_t n_passes, n_nodes, n_targets;
  uint32_t pass_capacity, node_capacity, target_capacity;
  td_number_map places;      /* by graph task and node: 1 + the place */
  td_number_map graph_tasks; /* 1 + the pass */
} td_pass_graph;

/* td_pass_graph_begin adds a pass with its root: the outermost one, then those inside a pass that
 * is here. */
void td_pass_graph_begin(td_pass_graph *graph, const td_catalog *catalog,
                         const td_catalog_graph_task *facts, uint64_t root_nr);

/* td_pass_graph_add adds a node with its edges, once, and returns its place; TD_NONE if the pass is
 * not here. */
uint32_t td_pass_graph_add(td_pass_graph *graph, const td_catalog *catalog, uint32_t graph_task,
                           uint32_t node, uint64_t sequence_nr);

/* td_pass_graph_restrict says whether a node of a pass is needed. */
void td_pass_graph_restrict(td_pass_graph *graph, uint32_t graph_task, uint32_t node,
                            bool is_needed);

/* td_pass_graph_find returns the place of a node in a pass, td_pass_graph_find_pass the number of a
 * pass; TD_NONE if it is not here. */
uint32_t td_pass_graph_find(const td_pass_graph *graph, uint32_t graph_task, uint32_t node);
uint32_t td_pass_graph_find_pass(const td_pass_graph *graph, uint32_t graph_task);

/* td_pass_graph_target returns the place to which an edge of a node leads, or TD_NONE. */
uint32_t td_pass_graph_target(const td_pass_graph *graph, const td_graph_node *from, uint32_t edge);

void td_pass_graph_fini(td_pass_graph *graph);
