/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/gradient_edge.h"

#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/anomaly_mode.h"
#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/node_hooks.h"

static td_node *
accumulator_get(td_tensor *leaf) {
  td_autograd_meta *meta = td_autograd_meta_get(leaf);
  if (meta->held_accumulator) return td_node_ref(meta->held_accumulator);
  pthread_mutex_lock(&meta->mutex);
  td_node *node = meta->accumulator;
  bool is_new = !node || !td_refcount_try_inc(&node->refs);
  if (is_new) {
    node = td_accumulate_grad_new(leaf);
    meta->accumulator = node;
    if (meta->name) td_node_set_label(node, meta->name);
    if (meta->hooks) td_node_add_leaf_hooks(node, meta->hooks);
  }
  pthread_mutex_unlock(&meta->mutex);
  if (is_new && td_anomaly_mode())
    td_metadata_note_birth(&node->metadata); /* may wait for the GIL */
  if (is_new) td_creation_note(node);
  return node;
}

td_edge
td_gradient_edge(td_tensor *tensor) {
  td_node *grad_fn = td_grad_fn(tensor);
  if (grad_fn) return (td_edge){td_node_ref(grad_fn), tensor->autograd->output_nr};
  if (!tensor->autograd || !tensor->autograd->requires_grad) return (td_edge){0};
  return (td_edge){accumulator_get(tensor), 0};
}
