/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/variable.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/version.h"

static _Thread_local bool grad_mode = true;

bool
td_grad_mode(void) {
  return grad_mode;
}

void
td_grad_mode_set(bool enabled) {
  grad_mode = enabled;
}

bool
td_requires_grad(const td_tensor *tensor) {
  if (tensor->autograd && (tensor->autograd->requires_grad || tensor->autograd->grad_fn))
    return true;
  return tensor->base && td_requires_grad(tensor->base);
}

td_node *
td_grad_fn_stored(const td_tensor *tensor) {
  return tensor->autograd ? tensor->autograd->grad_fn : NULL;
}

uint32_t
td_output_nr(const td_tensor *tensor) {
  return tensor->autograd ? tensor->autograd->output_nr : 0;
}

/* What td_retain_grad added goes to the tensor's new grad_fn; without one it is in no list. Other
 * hooks stay with the old node. */
static void
move_retained(td_hook *hook, td_node *node, uint32_t output_nr) {
  if (!hook) return;
  td_hook_remove(hook);
  if (node) td_node_add_hook(node, hook, TD_hook_kind_retains_grad, output_nr);
}

/* As long as a view has its node, it adds its hooks to that one: those to come, to the new node. */
static void
forget_hooked(td_autograd_meta *meta) {
  if (!td_policy(separate_hooks)) return;
  pthread_mutex_lock(&meta->mutex);
  td_node *hooked = meta->hooked;
  meta->hooked = NULL;
  pthread_mutex_unlock(&meta->mutex);
  td_node_unref(hooked);
}

void
td_set_grad_fn(td_tensor *tensor, td_node *node, uint32_t output_nr) {
  td_autograd_meta *meta = td_autograd_meta_get(tensor);
  td_node *old = meta->grad_fn;
  meta->grad_fn = td_node_ref(node);
  meta->output_nr = output_nr;
  if (tensor->base)
    atomic_store_explicit(&tensor->base_version, td_tensor_version(tensor), memory_order_release);
  if (old) move_retained(meta->retained, node, output_nr);
  if (old) forget_hooked(meta);
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

void
td_variable_reset_accumulator(td_tensor *tensor) {
  td_autograd_meta *meta = tensor->autograd;
  if (!meta) return;
  pthread_mutex_lock(&meta->mutex);
  meta->accumulator = NULL;
  pthread_mutex_unlock(&meta->mutex);
}

td_status
td_variable_set_data(td_tensor *tensor, const td_tensor *data, td_error *error) {
  if (td_requires_grad(tensor) && !td_dtype_is_differentiable(data->dtype))
    return td_error_set(error, TD_DTYPE,
                        "data set to a tensor that requires gradients must be floating point or "
                        "complex dtype");
  if (!data->sparse != !tensor->sparse)
    return td_error_set(error, TD_INVALID,
                        "Attempted to call `variable.set_data(tensor)`, but `variable` and "
                        "`tensor` have incompatible tensor type.");
  if (data->dtype != tensor->dtype || data->device != tensor->device)
    td_variable_reset_accumulator(tensor);
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

void
td_variable_forget_accumulator(td_tensor *leaf, td_node *node) {
  pthread_mutex_lock(&leaf->autograd->mutex);
  if (leaf->autograd->accumulator == node) leaf->autograd->accumulator = NULL;
  pthread_mutex_unlock(&leaf->autograd->mutex);
}

char *
td_tensor_dup_name(td_tensor *tensor) {
  td_autograd_meta *meta = tensor->autograd;
  if (!meta) return NULL;
  pthread_mutex_lock(&meta->mutex);
  char *name = meta->name ? td_dup_string(meta->name) : NULL;
  pthread_mutex_unlock(&meta->mutex);
  return name;
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
