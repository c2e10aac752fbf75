/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/in_place.h"

#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/inference.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"
#include "engine/torch/graph/write_watch.h"
#include "engine/torch/tensor/zero_tensor.h"

static td_status
check_history(const td_tensor *self, td_error *error) {
  if (self->base) {
    if (self->creation != TD_CREATION_DEFAULT) return td_view_refuse(self, "is being", error);
    if (td_requires_grad(self) && td_is_leaf(self->base))
      return td_error_set(error, TD_AUTOGRAD,
                          "a view of a leaf Variable that requires grad is being used in an "
                          "in-place operation.");
  }
  if (td_requires_grad(self) && td_is_leaf(self))
    return td_error_set(error, TD_AUTOGRAD,
                        "a leaf Variable that requires grad is being used in an in-place "
                        "operation.");
  return TD_OK;
}

td_status
td_check_in_place(const td_tensor *self, bool tracked, td_error *error) {
  if (TD_UNLIKELY(self->is_inference) && !td_inference_mode())
    return td_error_set(
        error, TD_AUTOGRAD,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
        "clone to get a normal tensor before doing inplace update.See "
        "https://github.com/pytorch/rfcs/pull/17 for more details.");
  td_status status = tracked ? check_history(self, error) : TD_OK;
  if (!status && td_tensor_is_zero_tensor(self)) status = td_zero_tensor_refuse(error);
  return status ? status : td_write_watch_call(self, error);
}

td_status
td_check_overlap(const td_tensor *self, td_error *error) {
  if (!td_tensor_overlaps_itself(self)) return TD_OK;
  return td_error_set(
      error, TD_AUTOGRAD,
      "unsupported operation: more than one element of the written-to tensor refers to a single "
      "memory location. Please clone() the tensor before performing the operation.");
}

td_overlap
td_worst_overlap(const td_tensor *self, td_tensor *const *operands, uint32_t n_operands) {
  td_overlap worst = TD_OVERLAP_NONE;
  for (uint32_t i = 0; i < n_operands; i++) {
    td_overlap found = operands[i] ? td_tensor_overlap(self, operands[i]) : TD_OVERLAP_NONE;
    if (found > worst) worst = found;
  }
  return worst;
}

td_status
td_check_operands(td_overlap found, td_overlap allowed, td_error *error) {
  if (found <= allowed) return TD_OK;
  return td_error_set(
      error, TD_AUTOGRAD,
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
      "a single memory location. Please clone() the tensor before performing the operation.");
}

/* Before PyTorch 2 a retained gradient follows writes into the tensor, but none into its views. */
static void
set_node_of_base(td_tensor *base, td_node *slices) {
  td_autograd_meta *meta = td_autograd_meta_get(base);
  td_hook *retained = meta->retained;
  if (!td_policy(separate_hooks)) meta->retained = NULL;
  td_set_grad_fn(base, slices, 0);
  meta->retained = retained;
}

td_status
td_rebase_history(td_tensor *self, td_node *node, uint32_t input_nr, td_error *error) {
  if (!self->base) {
    td_set_grad_fn(self, node, input_nr);
    td_node_announce(node);
    td_creation_note(node);
    return TD_OK;
  }
  if (node->n_inputs != 1)
    return td_error_set(error, TD_AUTOGRAD,
                        "Functions which modify views in-place must return a single Variable");
  td_node *slices = td_differentiable_get()->copy_slices(self->base, self, node);
  td_node_add_metadata(slices, self->base);
  set_node_of_base(self->base, slices);
  td_node_announce(slices);
  /* At once, as PyTorch, for it takes the next number; whoever looked since the write or not. */
  atomic_store_explicit(&self->base_version, td_tensor_version(self) - 1, memory_order_relaxed);
  td_status status = td_view_refresh(self, error);
  td_creation_note(slices);
  td_node_unref(slices);
  return status;
}

td_status
td_detach_in_place(td_tensor *self, td_error *error) {
  if (self->base)
    return td_error_set(
        error, TD_AUTOGRAD,
        "Can't detach views in-place. Use detach() instead. If you are using "
        "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
        "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
        "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
        "torch/optim/optimizer.py as the solution.");
  td_forget_history(self);
  return TD_OK;
}

td_status
td_set_source(td_tensor *tensor, const td_tensor *source, td_error *error) {
  bool tracked = td_grad_mode() && !td_inference_mode() && td_requires_grad(tensor);
  td_status status = td_check_in_place(tensor, tracked, error);
  if (!status) status = td_variable_set_data(tensor, source, error);
  if (status) return status;
  td_variable_reset_accumulator(tensor);
  td_tensor_bump(tensor, "set_");
  return TD_OK;
}
