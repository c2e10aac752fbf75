/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/function.h"

#include "engine/autograd/anomaly.h"
#include "engine/autograd/graph_task.h"

static bool
any_requires_grad(td_tensor *const *inputs, uint32_t n_inputs) {
  for (uint32_t i = 0; i < n_inputs; i++)
    if (inputs[i] && td_requires_grad(inputs[i])) return true;
  return false;
}

void *
td_function_begin(const td_node_class *klass, size_t size, td_tensor *const *inputs,
                  uint32_t n_inputs) {
  if (!td_grad_mode() || !any_requires_grad(inputs, n_inputs)) return NULL;
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
  td_anomaly_end_forward(node, results, n_results);
  td_node_unref(node);
}

bool
td_needs_gradient(const td_node *node, uint32_t output_nr) {
  const td_node *next = node->next_edges[output_nr].node;
  return next && td_graph_task_wants(next);
}

void
td_saved_variable_init(td_saved_variable *saved, td_tensor *tensor, bool is_output) {
  saved->is_output = is_output;
  saved->was_defined = tensor != NULL;
  saved->data = NULL;
  if (tensor) saved->data = is_output ? td_tensor_detach(tensor) : td_tensor_ref(tensor);
}

td_status
td_saved_variable_unpack(td_saved_variable *saved, td_node *node, td_tensor **out,
                         td_error *error) {
  *out = NULL;
  if (!saved->was_defined) return TD_OK;
  if (!saved->data)
    return td_error_set(
        error, TD_AUTOGRAD,
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after "
        "they have already been freed). Saved intermediate values of the graph are freed when you "
        "call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the "
        "graph a second time or if you need to access saved tensors after calling backward.");
  if (!saved->is_output) {
    *out = td_tensor_ref(saved->data);
    return TD_OK;
  }
  *out = td_tensor_detach(saved->data);
  if (td_grad_mode()) td_set_grad_fn(*out, node, 0);
  return TD_OK;
}

void
td_saved_variable_release(td_saved_variable *saved) {
  td_tensor_unref(saved->data);
  saved->data = NULL;
}
