/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/graph/variable.h"

#include "engine/base/alloc.h"
#include "engine/graph/accumulate_grad.h"
#include "engine/graph/anomaly.h"
#include "engine/graph/metadata.h"
#include "engine/graph/pending.h"
#include "engine/graph/tensor_hooks.h"
#include "engine/graph/variable_private.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"

static _Thread_local bool grad_mode = true;

bool
td_grad_mode(void) {
  return grad_mode;
}

void
td_grad_mode_set(bool enabled) {
  grad_mode = enabled;
}

static void
meta_free_cb(td_tensor *tensor) {
  td_autograd_meta *meta = tensor->autograd;
  td_tensor_hooks_fini(meta);
  tensor->autograd = NULL;
  td_node_unref(meta->grad_fn);
  td_node_unref(meta->held_accumulator);
  td_tensor_unref(meta->grad);
  pthread_mutex_destroy(&meta->mutex);
  free(meta->name);
  free(meta);
}

td_autograd_meta *
td_autograd_meta_get(td_tensor *tensor) {
  if (!tensor->autograd) {
    tensor->autograd = TD_NEW(td_autograd_meta);
    tensor->autograd_free = meta_free_cb;
    pthread_mutex_init(&tensor->autograd->mutex, NULL);
  }
  return tensor->autograd;
}

bool
td_requires_grad(const td_tensor *tensor) {
  if (tensor->autograd && (tensor->autograd->requires_grad || tensor->autograd->grad_fn))
    return true;
  return tensor->base && td_requires_grad(tensor->base);
}

bool
td_is_leaf(const td_tensor *tensor) {
  return !td_grad_fn(tensor);
}

td_status
td_set_requires_grad(td_tensor *tensor, bool requires_grad, td_error *error) {
  if (requires_grad && !td_dtype_is_differentiable(tensor->dtype))
    return td_error_set(error, TD_DTYPE,
                        "Only Tensors of floating point and complex dtype can require gradients");
  if (tensor->is_inference && requires_grad && !td_inference_mode())
    return td_error_set(error, TD_AUTOGRAD,
                        "Setting requires_grad=True on inference tensor outside InferenceMode is "
                        "not allowed.");
  if (!td_is_leaf(tensor)) {
    if (requires_grad) return TD_OK;
    return td_error_set(
        error, TD_INVALID,
        "you can only change requires_grad flags of leaf variables. If you want to use "
        "a computed variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach().");
  }
  td_autograd_meta_get(tensor)->requires_grad = requires_grad;
  return TD_OK;
}

td_node *
td_grad_fn_stored(const td_tensor *tensor) {
  return tensor->autograd ? tensor->autograd->grad_fn : NULL;
}

/* What the tensor is to the outside does not change: a view's history is made when it is wanted. */
td_node *
td_grad_fn(const td_tensor *tensor) {
  if (tensor->base && !td_view_is_fresh(tensor)) {
    td_error error = {0};
    td_status status = td_view_refresh((td_tensor *)tensor, &error);
    if (status) td_pending_set(status, &error);
  }
  return td_grad_fn_stored(tensor);
}

uint32_t
td_output_nr(const td_tensor *tensor) {
  return tensor->autograd ? tensor->autograd->output_nr : 0;
}

void
td_set_grad_fn(td_tensor *tensor, td_node *node, uint32_t output_nr) {
  td_autograd_meta *meta = td_autograd_meta_get(tensor);
  td_node *old = meta->grad_fn;
  meta->grad_fn = td_node_ref(node);
  meta->output_nr = output_nr;
  if (tensor->base)
    atomic_store_explicit(&tensor->base_version, td_tensor_version(tensor), memory_order_release);
  if (old) td_tensor_move_retained(tensor, node, output_nr);
  td_node_unref(old);
}

void
td_forget_history(td_tensor *tensor) {
  td_autograd_meta *meta = tensor->autograd;
  if (!meta) return;
  td_node *old = meta->grad_fn;
  meta->grad_fn = NULL;
  meta->output_nr = 0;
  meta->requires_grad = false;
  td_node_unref(old);
}

void
td_variable_set_accumulator(td_tensor *tensor, td_node *accumulator) {
  td_autograd_meta *meta = td_autograd_meta_get(tensor);
  meta->requires_grad = true;
  meta->held_accumulator = td_node_ref(accumulator);
}

td_status
td_variable_set_data(td_tensor *tensor, const td_tensor *data, td_error *error) {
  if (td_requires_grad(tensor) && !td_dtype_is_differentiable(data->dtype))
    return td_error_set(error, TD_DTYPE,
                        "data set to a tensor that requires gradients must be floating point or "
                        "complex dtype");
  td_autograd_meta *meta = tensor->autograd;
  if (meta && (data->dtype != tensor->dtype || data->device != tensor->device)) {
    pthread_mutex_lock(&meta->mutex);
    meta->accumulator = NULL;
    pthread_mutex_unlock(&meta->mutex);
  }
  td_tensor_set_data(tensor, data);
  return TD_OK;
}

td_tensor *
td_grad_get(td_tensor *tensor) {
  if (!tensor->autograd) return NULL;
  pthread_mutex_lock(&tensor->autograd->mutex);
  td_tensor *grad = td_tensor_ref(tensor->autograd->grad);
  pthread_mutex_unlock(&tensor->autograd->mutex);
  return grad;
}

void
td_grad_set(td_tensor *tensor, td_tensor *grad) {
  if (!tensor->autograd && !grad) return;
  td_autograd_meta *meta = td_autograd_meta_get(tensor);
  pthread_mutex_lock(&meta->mutex);
  td_tensor *old = meta->grad;
  meta->grad = td_tensor_ref(grad);
  pthread_mutex_unlock(&meta->mutex);
  td_tensor_unref(old);
}

/* A dying AccumulateGrad may still be known here: its count is zero, and it does not come back. */
td_node *
td_grad_accumulator_find(td_tensor *tensor) {
  if (!tensor->autograd) return NULL;
  pthread_mutex_lock(&tensor->autograd->mutex);
  td_node *node = tensor->autograd->accumulator;
  if (node && !td_refcount_try_inc(&node->refs)) node = NULL;
  pthread_mutex_unlock(&tensor->autograd->mutex);
  return node;
}

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
    if (meta->hooks) td_hooks_of_leaf(node, meta->hooks);
  }
  pthread_mutex_unlock(&meta->mutex);
  if (is_new && td_anomaly_mode()) td_metadata_note_birth(node); /* may wait for the GIL */
  return node;
}

void
td_variable_forget_accumulator(td_tensor *leaf, td_node *node) {
  pthread_mutex_lock(&leaf->autograd->mutex);
  if (leaf->autograd->accumulator == node) leaf->autograd->accumulator = NULL;
  pthread_mutex_unlock(&leaf->autograd->mutex);
}

td_edge
td_gradient_edge(td_tensor *tensor) {
  td_node *grad_fn = td_grad_fn(tensor);
  if (grad_fn) return (td_edge){td_node_ref(grad_fn), tensor->autograd->output_nr};
  if (!tensor->autograd || !tensor->autograd->requires_grad) return (td_edge){0};
  return (td_edge){accumulator_get(tensor), 0};
}

void
td_tensor_set_name(td_tensor *tensor, const char *name) {
  td_autograd_meta *meta = td_autograd_meta_get(tensor);
  pthread_mutex_lock(&meta->mutex);
  free(meta->name);
  meta->name = td_dup_string(name);
  pthread_mutex_unlock(&meta->mutex);
  td_node *node = td_grad_accumulator_find(tensor);
  if (!node) return;
  td_node_set_label(node, name);
  td_node_unref(node);
}
