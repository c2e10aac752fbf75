/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/derive/node.h"

#include "engine/base/alloc.h"

#define GONE_AT_LEAST 4096

static td_rnode *
node_of(const uint64_t *place) {
  return place ? (td_rnode *)(uintptr_t)*place : NULL;
}

static void
free_node(td_rnode *node) {
  if (node) free(node->edges);
  free(node);
}

td_rnode *
td_rnode_find(const td_derivation *self, uint32_t id) {
  return node_of(td_number_map_find(&self->nodes, id));
}

static bool
is_free(const td_rnode *node) {
  return node->gone && node->n_passes == 0;
}

static void
free_if_done(td_derivation *self, td_rnode *node) {
  if (!is_free(node)) return;
  uint64_t *place = td_number_map_find(&self->nodes, node->id);
  if (node_of(place) == node) {
    *place = 0;
    self->n_nodes_gone++;
  }
  free_node(node);
  if (self->n_nodes_gone < GONE_AT_LEAST || self->n_nodes_gone < self->nodes.n / 2) return;
  td_number_map_forget_zeros(&self->nodes);
  self->n_nodes_gone = 0;
}

/* A tape that gives a number twice lies. The first node stays as long as a pass holds it. */
td_rnode *
td_rnode_add(td_derivation *self, const td_event_node_new *event) {
  td_rnode_drop(self, event->node);
  td_rnode *node = TD_NEW(td_rnode);
  *node = (td_rnode){.id = event->node,
                     .sequence_nr = event->sequence_nr,
                     .topological_nr = event->topological_nr,
                     .device = event->device};
  *td_number_map_put(&self->nodes, event->node) = (uintptr_t)node;
  return node;
}

void
td_rnode_add_edge(td_derivation *self, const td_event_edge_new *event) {
  td_rnode *node = td_rnode_find(self, event->from);
  if (!node || node->n_passes > 0) return;
  TD_GROW(node->edges, node->n_edges, node->edges_capacity);
  node->edges[node->n_edges++] = (td_redge){event->output_nr, event->to, event->input_nr};
}

void
td_rnode_hold(td_rnode *node) {
  node->n_passes++;
}

void
td_rnode_release(td_derivation *self, td_rnode *node) {
  node->n_passes--;
  free_if_done(self, node);
}

void
td_rnode_drop(td_derivation *self, uint32_t id) {
  td_rnode *node = td_rnode_find(self, id);
  if (!node) return;
  node->gone = true;
  free_if_done(self, node);
}

void
td_rnodes_fini(td_derivation *self) {
  for (uint32_t i = 0; i < self->nodes.n; i++)
    free_node((td_rnode *)(uintptr_t)self->nodes.entries[i].value);
  td_number_map_fini(&self->nodes);
}
