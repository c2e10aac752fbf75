/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/graph/in_place.h"

#include "engine/graph/differentiable.h"
#include "engine/graph/grad_fn.h"
#include "engine/graph/tensor_hooks.h"
#include "engine/graph/variable.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"

/* An expanded dimension is enough: other overlaps come of as_strided alone. */
static bool
elements_overlap(const td_tensor *tensor) {
  for (int dim = 0; dim < tensor->n_dims; dim++)
    if (tensor->sizes[dim] > 1 && tensor->strides[dim] == 0) return true;
  return false;
}

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
  if (elements_overlap(self))
    return td_error_set(
        error, TD_AUTOGRAD,
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.");
  return tracked ? check_history(self, error) : TD_OK;
}

td_status
td_rebase_history(td_tensor *self, td_node *node, uint32_t input_nr, td_error *error) {
  if (!self->base) {
    td_set_grad_fn(self, node, input_nr);
    td_node_announce(node);
    return TD_OK;
  }
  if (node->n_inputs != 1)
    return td_error_set(error, TD_AUTOGRAD,
                        "Functions which modify views in-place must return a single Variable");
  td_node *slices = td_differentiable_get()->copy_slices(self->base, self, node);
  td_node_add_metadata(slices, self->base);
  td_set_grad_fn(self->base, slices, 0);
  td_node_announce(slices);
  td_node_unref(slices);
  /* At once, as PyTorch, for it takes the next number; whoever looked since the write or not. */
  atomic_store_explicit(&self->base_version, td_tensor_version(self) - 1, memory_order_relaxed);
  td_tensor_hooks_renew(self);
  return td_view_refresh(self, error);
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
