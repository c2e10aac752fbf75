/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/pass_graph.h"

#include "engine/base/alloc.h"

static uint64_t
key_of(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

static uint32_t
find(const td_number_map *map, uint64_t key) {
  const uint64_t *found = td_number_map_find(map, key);
  return found ? (uint32_t)*found - 1 : TD_NONE;
}

uint32_t
td_pass_graph_find(const td_pass_graph *graph, uint32_t graph_task, uint32_t node) {
  return find(&graph->places, key_of(graph_task, node));
}

uint32_t
td_pass_graph_find_pass(const td_pass_graph *graph, uint32_t graph_task) {
  return find(&graph->graph_tasks, graph_task);
}

uint32_t
td_pass_graph_target(const td_pass_graph *graph, const td_graph_node *from, uint32_t edge) {
  uint32_t graph_task = graph->passes[from->pass].graph_task;
  return td_pass_graph_find(graph, graph_task, graph->targets[from->first + edge]);
}

static void
add_targets(td_pass_graph *graph, const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  for (uint32_t i = 0; facts && i < facts->n_out; i++) {
    TD_GROW(graph->targets, graph->n_targets, graph->target_capacity);
    graph->targets[graph->n_targets++] = catalog->edges[facts->first_out + i].to;
  }
}

uint32_t
td_pass_graph_add(td_pass_graph *graph, const td_catalog *catalog, uint32_t graph_task,
                  uint32_t node, uint64_t sequence_nr) {
  uint32_t pass = td_pass_graph_find_pass(graph, graph_task);
  if (pass == TD_NONE || node == TD_NONE) return TD_NONE;
  uint64_t *place = td_number_map_put(&graph->places, key_of(graph_task, node));
  if (*place) return (uint32_t)*place - 1;
  *place = 1 + (uint64_t)graph->n_nodes;
  uint32_t first = graph->n_targets;
  add_targets(graph, catalog, node);
  TD_GROW(graph->nodes, graph->n_nodes, graph->node_capacity);
  graph->nodes[graph->n_nodes++] = (td_graph_node){.node = node,
                                                   .pass = pass,
                                                   .queue = TD_NONE,
                                                   .first = first,
                                                   .n = graph->n_targets - first,
                                                   .sequence_nr = sequence_nr};
  return graph->n_nodes - 1;
}

void
td_pass_graph_begin(td_pass_graph *graph, const td_catalog *catalog,
                    const td_catalog_graph_task *facts, uint64_t root_nr) {
  uint64_t *number = td_number_map_put(&graph->graph_tasks, facts->id);
  if (*number) return;
  *number = 1 + (uint64_t)graph->n_passes;
  TD_GROW(graph->passes, graph->n_passes, graph->pass_capacity);
  td_graph_pass *pass = &graph->passes[graph->n_passes++];
  uint32_t outer = td_pass_graph_find_pass(graph, facts->outer);
  *pass = (td_graph_pass){.graph_task = facts->id,
                          .outer = outer == TD_NONE ? 0 : outer,
                          .depth = facts->depth,
                          .caller = td_pass_graph_find(graph, facts->outer, facts->caller)};
  pass->root = td_pass_graph_add(graph, catalog, facts->id, facts->root, root_nr);
}

void
td_pass_graph_restrict(td_pass_graph *graph, uint32_t graph_task, uint32_t node, bool is_needed) {
  uint32_t pass = td_pass_graph_find_pass(graph, graph_task);
  uint32_t place = td_pass_graph_find(graph, graph_task, node);
  if (pass != TD_NONE) graph->passes[pass].is_restricted = true;
  if (place != TD_NONE) graph->nodes[place].is_needed = is_needed;
}

void
td_pass_graph_fini(td_pass_graph *graph) {
  free(graph->passes);
  free(graph->nodes);
  free(graph->targets);
  td_number_map_fini(&graph->places);
  td_number_map_fini(&graph->graph_tasks);
  *graph = (td_pass_graph){0};
}
