/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/scene.h"

#include "engine/base/alloc.h"

#include <string.h>

static uint32_t *
slot_of(const td_graph_scene *scene, uint32_t node) {
  uint32_t at = node * 0x9e3779b1u; /* Fibonacci hashing, Knuth 6.4 */
  for (;; at++) {
    uint32_t *slot = &scene->slots[at & (scene->n_slots - 1)];
    if (*slot == TD_NONE || scene->nodes[*slot].node == node) return slot;
  }
}

uint32_t
td_scene_find(const td_graph_scene *scene, uint32_t node) {
  return scene->n_slots ? *slot_of(scene, node) : TD_NONE;
}

static void
grow_slots(td_graph_scene *scene) {
  scene->n_slots = scene->n_slots ? 2 * scene->n_slots : 64;
  free(scene->slots);
  scene->slots = TD_NEW_N(uint32_t, scene->n_slots);
  memset(scene->slots, 0xff, scene->n_slots * sizeof *scene->slots);
  for (uint32_t i = 0; i < scene->n_nodes; i++)
    *slot_of(scene, scene->nodes[i].node) = i;
}

void
td_scene_add(td_graph_scene *scene, uint32_t node, uint32_t *capacity) {
  if (node >= scene->graph->n_nodes) return;
  if (2 * scene->n_nodes >= scene->n_slots) grow_slots(scene);
  uint32_t *slot = slot_of(scene, node);
  if (*slot != TD_NONE) return;
  TD_GROW(scene->nodes, scene->n_nodes, *capacity);
  *slot = scene->n_nodes;
  scene->nodes[scene->n_nodes++] = (td_scene_node){.node = node};
}
