/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/gradient_sum.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"

/* Sums with a history of its own. The nodes are those of PyTorch: a sum of all to a scalar, and a
 * view only if dimensions go away. */
static td_status
sum_to_recorded(td_tensor *grad, int n_dims, const int64_t *sizes, td_tensor **out,
                td_error *error) {
  int64_t dims[TD_MAX_DIMS];
  int leading = grad->n_dims - n_dims, n = 0;
  for (int dim = 0; dim < grad->n_dims; dim++)
    if (dim < leading || (sizes[dim - leading] == 1 && grad->sizes[dim] != 1)) dims[n++] = dim;
  if (n == 0) {
    *out = td_tensor_ref(grad);
    return TD_OK;
  }
  if (n_dims == 0) return td_op_sum(grad, out, error);
  if (leading == 0) return td_op_sum_dims(grad, n, dims, true, out, error);
  TD_LOCAL(sum);
  TD_TRY(td_op_sum_dims(grad, n, dims, true, &sum, error));
  return td_op_view(sum, n_dims, sizes, out, error);
}

td_status
td_op_sum_to(td_tensor *grad, int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  bool recorded = td_grad_mode() && td_requires_grad(grad);
  return (recorded ? sum_to_recorded : td_kernel_sum_to)(grad, n_dims, sizes, out, error);
}

td_status
td_op_reduce_to(td_tensor *grad, const td_input_metadata *like, td_tensor **out, td_error *error) {
  TD_LOCAL(sum);
  TD_TRY(td_op_sum_to(grad, like->n_dims, like->sizes, &sum, error));
  return td_op_to(sum, like->dtype, like->device, out, error);
}
