/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/differentiable.h"

#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"

static td_status
add_without_history(td_tensor *a, td_tensor *b, td_tensor **out, td_error *error) {
  return td_kernel_add(a, b, out, error);
}

static td_status
clone_without_history(td_tensor *tensor, td_tensor **out, td_error *error) {
  td_status status = td_tensor_new_like(tensor, out, error);
  if (!status) td_kernel_copy(*out, tensor);
  return status;
}

static td_status
copy_without_history(td_tensor *tensor, td_tensor *source, td_error *error) {
  td_kernel_copy(tensor, source);
  return TD_OK;
}

static td_status
real_without_history(td_tensor *tensor, td_tensor **out, td_error *error) {
  return td_kernel_cast(tensor, td_dtype_real(tensor->dtype), out, error);
}

static td_status
to_without_history(td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
                   td_error *error) {
  td_tensor *cast;
  td_status status = td_kernel_cast(tensor, dtype, &cast, error);
  if (status) return status;
  status = td_kernel_to_device(cast, device, out, error);
  td_tensor_unref(cast);
  return status;
}

static td_differentiable operations = {.add = add_without_history,
                                       .clone = clone_without_history,
                                       .copy_into = copy_without_history,
                                       .real = real_without_history,
                                       .sum_to = td_kernel_sum_to,
                                       .to = to_without_history};

void
td_differentiable_set(td_differentiable wanted) {
  operations = wanted;
}

const td_differentiable *
td_differentiable_get(void) {
  return &operations;
}
