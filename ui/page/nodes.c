/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/nodes.h"

#include "engine/base/alloc.h"

uint32_t
td_page_nodes_find(const td_page_nodes *nodes, uint32_t node) {
  const uint64_t *place = td_number_map_find(&nodes->places, node);
  return place ? (uint32_t)*place - 1 : TD_NONE;
}

uint32_t
td_page_nodes_put(td_page_nodes *nodes, uint32_t node) {
  if (node == TD_NONE || !td_catalog_has_node(nodes->catalog, node)) return TD_NONE;
  uint32_t found = td_page_nodes_find(nodes, node);
  if (found != TD_NONE) return found;
  if (nodes->n == nodes->most) {
    nodes->left_out = true;
    return TD_NONE;
  }
  TD_GROW(nodes->ids, nodes->n, nodes->capacity);
  nodes->ids[nodes->n++] = node;
  *td_number_map_put(&nodes->places, node) = nodes->n;
  return nodes->n - 1;
}

void
td_page_nodes_fini(td_page_nodes *nodes) {
  free(nodes->ids);
  td_number_map_fini(&nodes->places);
  *nodes = (td_page_nodes){0};
}
