/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/factories.h"

#include "engine/torch/tensor/launch.h"

#include <stdlib.h>
#include <string.h>

static _Atomic td_dtype default_dtype = TD_FLOAT32;

td_dtype
td_default_dtype(void) {
  return default_dtype;
}

void
td_default_dtype_set(td_dtype dtype) {
  default_dtype = dtype;
}

td_status
td_tensor_new(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes, td_tensor **out,
              td_error *error) {
  td_status status = td_tensor_new_empty(dtype, device, n_dims, sizes, out, error);
  if (status) return status;
  td_kernel_call zeros = {.name = "fill.out",
                          .n_written = 1,
                          .n_tensors = 1,
                          .tensors = (const td_tensor *[]){*out},
                          .sizes = sizes,
                          .n_dims = n_dims};
  if (td_launch(&zeros)) memset((*out)->storage->data, 0, (*out)->storage->n_bytes);
  return TD_OK;
}

td_status
td_tensor_new_like(const td_tensor *like, td_tensor **out, td_error *error) {
  return td_tensor_new(like->dtype, like->device, like->n_dims, like->sizes, out, error);
}

td_tensor *
td_tensor_new_scalar(td_dtype dtype, td_device device, double value) {
  td_tensor *tensor = NULL;
  if (td_tensor_new_empty(dtype, device, 0, NULL, &tensor, NULL) != TD_OK) abort();
  td_tensor_set(tensor, 0, value);
  return tensor;
}
