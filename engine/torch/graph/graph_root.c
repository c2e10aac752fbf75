/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/graph_root.h"

#include "engine/base/alloc.h"

typedef struct graph_root {
  td_node node;
  td_tensor **gradients; /* (owned references) [node.n_outputs] */
} graph_root;

static td_status
graph_root_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  graph_root *self = (graph_root *)node;
  for (uint32_t i = 0; i < node->n_outputs; i++)
    outputs[i] = td_tensor_ref(self->gradients[i]);
  return TD_OK;
}

static void
graph_root_fini(td_node *node) {
  graph_root *self = (graph_root *)node;
  for (uint32_t i = 0; i < node->n_outputs; i++)
    td_tensor_unref(self->gradients[i]);
  free(self->gradients);
}

static const td_node_class graph_root_class = {
    .name = "GraphRoot",
    .apply = graph_root_apply,
    .fini = graph_root_fini,
};

td_node *
td_graph_root_new(const td_edge *roots, td_tensor *const *gradients, uint32_t n_roots) {
  graph_root *self = (graph_root *)td_node_new_raw(&graph_root_class, sizeof *self, n_roots,
                                                   td_sequence_nr_next());
  self->gradients = TD_NEW_N(td_tensor *, n_roots);
  for (uint32_t i = 0; i < n_roots; i++) {
    self->gradients[i] = td_tensor_ref(gradients[i]);
    if (gradients[i]) td_node_add_metadata(&self->node, gradients[i]);
    td_node_set_edge(&self->node, i, (td_edge){td_node_ref(roots[i].node), roots[i].input_nr});
  }
  return &self->node;
}
