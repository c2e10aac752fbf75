/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/graph_steps.h"

#include "engine/base/alloc.h"
#include "ui/draw/scene.h"

#include <math.h>

typedef struct placed {
  double x, y;
  uint32_t node;
} placed;

static int
compare(const void *a, const void *b) {
  const placed *left = a, *right = b;
  if (left->y != right->y) return left->y < right->y ? -1 : 1;
  if (left->x != right->x) return left->x < right->x ? -1 : 1;
  return (left->node > right->node) - (left->node < right->node);
}

uint32_t *
td_graph_scene_order(const td_graph_scene *scene) {
  placed *nodes = TD_NEW_N(placed, scene->n_nodes);
  uint32_t *order = TD_NEW_N(uint32_t, scene->n_nodes);
  for (uint32_t i = 0; i < scene->n_nodes; i++)
    nodes[i] = (placed){scene->layout->x[i], scene->layout->y[i], scene->nodes[i].node};
  if (scene->n_nodes) qsort(nodes, scene->n_nodes, sizeof *nodes, compare);
  for (uint32_t i = 0; i < scene->n_nodes; i++)
    order[i] = nodes[i].node;
  free(nodes);
  return order;
}

/* The cost of following an edge: a leaf is the last choice. */
static double
cost_of(const td_graph_scene *scene, uint32_t here, uint32_t there) {
  double aside = fabs(scene->layout->x[there] - scene->layout->x[here]);
  return scene->nodes[there].port ? aside + 1e9 : aside;
}

static uint32_t
along_edge(const td_graph_scene *scene, uint32_t here, bool down) {
  uint32_t found = TD_NONE;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    const td_scene_edge *edge = &scene->edges[i];
    uint32_t there = down ? edge->to : edge->from;
    if ((down ? edge->from : edge->to) != here || there == here) continue;
    if (found == TD_NONE || cost_of(scene, here, there) < cost_of(scene, here, found))
      found = there;
  }
  return found;
}

/* The nearest whose card is as high up in part. */
static uint32_t
beside(const td_graph_scene *scene, uint32_t here, int dx) {
  td_box box = td_scene_box(scene, here);
  double best = 0;
  uint32_t found = TD_NONE;
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    td_box other = td_scene_box(scene, i);
    double along = (scene->layout->x[i] - scene->layout->x[here]) * dx;
    bool in_layer = other.y < box.y + box.height && other.y + other.height > box.y;
    if (along <= 0.5 || !in_layer || (found != TD_NONE && along >= best)) continue;
    found = i;
    best = along;
  }
  return found;
}

uint32_t
td_graph_scene_neighbour(const td_graph_scene *scene, uint32_t node, int dx, int dy) {
  uint32_t here = td_scene_find(scene, node);
  if (here == TD_NONE) return TD_NONE;
  uint32_t found = dy ? along_edge(scene, here, dy > 0) : beside(scene, here, dx);
  return found == TD_NONE ? TD_NONE : scene->nodes[found].node;
}

bool
td_graph_scene_extent(const td_graph_scene *scene, const td_graph_view *view, uint32_t node,
                      double extent[4]) {
  uint32_t found = td_scene_find(scene, node);
  if (found == TD_NONE) return false;
  td_box box = td_scene_box(scene, found);
  extent[0] = view->width / 2 + (box.x - view->centre_x) * view->scale;
  extent[1] = view->height / 2 + (box.y - view->centre_y) * view->scale;
  extent[2] = box.width * view->scale;
  extent[3] = box.height * view->scale;
  return true;
}
