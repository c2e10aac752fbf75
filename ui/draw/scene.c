/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/scene.h"

#include "engine/base/alloc.h"

#include <assert.h>

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

void
td_graph_scene_init(td_graph_scene *scene, const td_catalog *catalog, uint32_t graph_task) {
  assert(graph_task == TD_NONE || td_catalog_has_graph_task(catalog, graph_task));
  scene->catalog = catalog;
  scene->graph_task = graph_task;
  scene->numbers = TD_NEW_N(uint32_t, catalog->n_nodes);
}

void
td_graph_scene_fini(td_graph_scene *scene) {
  for (uint32_t i = 0; i < scene->n_layers; i++)
    free(scene->layers[i].path);
  if (scene->layout) td_layout_free(scene->layout);
  td_text_blocks_fini(&scene->texts);
  void *owned[] = {scene->layers, scene->nodes,   scene->edges, scene->numbers,
                   scene->blocks, scene->members, scene->totals};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
}
