/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/function.h"

#include "engine/torch/device/memory.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/graph/gradient_edge.h"

td_node *
td_node_new(const td_node_class *klass, size_t size, td_tensor *const *inputs, uint32_t n_inputs) {
  td_node *node = td_node_new_raw(klass, size, n_inputs, td_sequence_nr_next());
  for (uint32_t i = 0; i < n_inputs; i++)
    if (inputs[i]) td_node_set_edge(node, i, td_gradient_edge(inputs[i]));
  return node;
}

void
td_node_add_input(td_node *node, td_tensor *output) {
  td_node_add_metadata(node, output);
  if (output->storage->memory) td_tensor_made_by(output, td_node_id(node));
  td_set_grad_fn(output, node, node->n_inputs - 1);
}

static bool
any_requires_grad(td_tensor *const *inputs, uint32_t n_inputs) {
  for (uint32_t i = 0; i < n_inputs; i++)
    if (inputs[i] && td_requires_grad(inputs[i])) return true;
  return false;
}

void *
td_function_begin(const td_node_class *klass, size_t size, td_tensor *const *inputs,
                  uint32_t n_inputs) {
  if (!td_grad_mode()) td_cut_inputs(inputs, n_inputs);
  if (!td_grad_mode() || !any_requires_grad(inputs, n_inputs) || td_inference_mode()) return NULL;
  td_node *node = td_node_new(klass, size, inputs, n_inputs);
  td_anomaly_begin_forward(node, inputs, n_inputs);
  return node;
}

void
td_function_end(td_node *node, td_tensor *const *results, uint32_t n_results) {
  for (uint32_t i = 0; i < n_results; i++) {
    if (results[i] && td_dtype_is_differentiable(results[i]->dtype))
      td_node_add_input(node, results[i]);
    else
      td_node_add_undefined_input(node);
  }
  td_node_announce(node);
  if (!td_node_announcements_held()) td_creation_note(node);
  td_anomaly_end_forward(node, results, n_results);
  td_node_unref(node);
}
