/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/grad_fn.h"

#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/pending.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/views.h"

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

bool
td_is_leaf(const td_tensor *tensor) {
  return !td_grad_fn_stored(tensor);
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
  if (td_grad_fn_stored(tensor)) {
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
