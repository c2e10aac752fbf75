/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/scene.h"

#include "engine/base/alloc.h"

uint32_t
td_scene_find(const td_graph_scene *scene, uint32_t node) {
  uint32_t row = td_catalog_node_row(scene->catalog, node);
  return row == TD_NO_ROW || scene->numbers[row] == 0 ? TD_NONE : scene->numbers[row] - 1;
}

void
td_scene_add(td_graph_scene *scene, uint32_t node, uint32_t *capacity) {
  uint32_t row = td_catalog_node_row(scene->catalog, node);
  if (row == TD_NO_ROW || scene->numbers[row]) return;
  TD_GROW(scene->nodes, scene->n_nodes, *capacity);
  scene->nodes[scene->n_nodes++] = (td_scene_node){.node = node};
  scene->numbers[row] = scene->n_nodes;
}
