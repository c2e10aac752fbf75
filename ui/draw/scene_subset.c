/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Scenes of a part of a pass, and which nodes belong to such a part. */
#include "engine/base/alloc.h"
#include "ui/draw/scene.h"
#include "ui/geometry/reach.h"

typedef struct scene_graph {
  td_reach_graph graph;
  uint32_t *from, *to; /* (owned) */
} scene_graph;

static scene_graph
graph_of(const td_graph_scene *scene) {
  scene_graph self = {.from = TD_NEW_N(uint32_t, scene->n_edges),
                      .to = TD_NEW_N(uint32_t, scene->n_edges)};
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    self.from[i] = scene->edges[i].from;
    self.to[i] = scene->edges[i].to;
  }
  self.graph = (td_reach_graph){scene->n_nodes, scene->n_edges, self.from, self.to};
  return self;
}

static void
scene_graph_fini(scene_graph *self) {
  free(self->from);
  free(self->to);
}

static void
to_nodes_of_graph(const td_graph_scene *scene, uint32_t *nodes, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    nodes[i] = scene->nodes[nodes[i]].node;
}

uint32_t *
td_graph_scene_neighbours(const td_graph_scene *scene, uint32_t node, uint32_t distance,
                          uint32_t most, uint32_t *n, uint32_t *n_all) {
  uint32_t found = td_scene_find(scene, node);
  if (found == TD_NONE) return NULL;
  scene_graph self = graph_of(scene);
  uint32_t *nodes = td_reach_neighbours(&self.graph, found, distance, most, n, n_all);
  to_nodes_of_graph(scene, nodes, *n);
  scene_graph_fini(&self);
  return nodes;
}

uint32_t *
td_graph_scene_paths(const td_graph_scene *scene, uint32_t from, uint32_t to, uint32_t *n) {
  uint32_t first = td_scene_find(scene, from), last = td_scene_find(scene, to);
  if (first == TD_NONE || last == TD_NONE) return NULL;
  scene_graph self = graph_of(scene);
  uint32_t *nodes = td_reach_paths(&self.graph, first, last, n);
  to_nodes_of_graph(scene, nodes, *n);
  scene_graph_fini(&self);
  if (*n) return nodes;
  free(nodes);
  return NULL;
}
