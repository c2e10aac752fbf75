/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/reconstruct/node.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"

static td_rnode **nodes; /* (owned) by id */
static size_t n_nodes, nodes_capacity;

static uint32_t
topological_nr(const td_seen_node *seen) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < seen->n_edges; i++) {
    const td_rnode *child = td_rnode_find(seen->edges[i].node);
    if (child) result = TD_MAX(result, child->topological_nr + 1);
  }
  return result;
}

td_rnode *
td_rnode_add(const td_seen_node *seen) {
  td_rnode *node = td_alloc(1, sizeof *node + seen->n_edges * sizeof *node->edges);
  *node = (td_rnode){.id = (uint32_t)n_nodes,
                     .sequence_nr = seen->sequence_nr,
                     .topological_nr = topological_nr(seen),
                     .device = seen->device,
                     .n_inputs = seen->n_inputs,
                     .n_edges = seen->n_edges};
  for (uint32_t i = 0; i < seen->n_edges; i++)
    node->edges[i] = seen->edges[i];
  TD_GROW(nodes, n_nodes, nodes_capacity);
  return nodes[n_nodes++] = node;
}

td_rnode *
td_rnode_find(uint32_t id) {
  return id < n_nodes ? nodes[id] : NULL;
}

static void
free_if_done(td_rnode *node) {
  if (!node->gone || node->n_passes > 0) return;
  nodes[node->id] = NULL;
  free(node);
}

void
td_rnode_hold(td_rnode *node) {
  node->n_passes++;
}

void
td_rnode_release(td_rnode *node) {
  node->n_passes--;
  free_if_done(node);
}

void
td_rnode_drop(uint32_t id) {
  td_rnode *node = td_rnode_find(id);
  if (!node) return;
  node->gone = true;
  free_if_done(node);
}

void
td_rnode_forget_all(void) {
  nodes = NULL;
  n_nodes = nodes_capacity = 0;
}

void
td_rnode_emit(const td_rnode *node, const char *name, uint32_t stack) {
  TD_EMIT(node_new, .node = node->id, .name = td_intern(name), .sequence_nr = node->sequence_nr,
          .topological_nr = node->topological_nr, .device = node->device, .stream = 0,
          .n_inputs = node->n_inputs, .n_outputs = node->n_edges, .stack = stack);
  for (uint32_t i = 0; i < node->n_edges; i++)
    if (node->edges[i].node != TD_NONE)
      TD_EMIT_BORROWED(edge_new, .from = node->id, .output_nr = i, .to = node->edges[i].node,
                       .input_nr = node->edges[i].input_nr);
}
