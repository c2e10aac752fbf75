/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/scene.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

static inline uint32_t
node_of(const void *scene, uint32_t number) {
  return ((const td_graph_scene *)scene)->nodes[number - 1].node;
}

TD_HASH_INDEX_DEFINE(numbers, uint32_t, td_hash_number, node_of, TD_HASH_INDEX_EQUAL)

uint32_t
td_scene_find(const td_graph_scene *scene, uint32_t node) {
  uint32_t number = numbers_find(&scene->numbers, node, scene);
  return number ? number - 1 : TD_NONE;
}

void
td_scene_add(td_graph_scene *scene, uint32_t node, uint32_t *capacity) {
  if (!td_catalog_has_node(scene->catalog, node)) return;
  uint32_t number = numbers_put(&scene->numbers, scene->n_nodes, node, scene);
  if (number <= scene->n_nodes) return;
  TD_GROW(scene->nodes, scene->n_nodes, *capacity);
  scene->nodes[scene->n_nodes++] = (td_scene_node){.node = node};
}
