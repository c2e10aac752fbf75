/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/zero_tensor.h"

#include "engine/base/alloc.h"
#include "engine/torch/tensor/factories.h"

#include <stdlib.h>

/* A storage with such a lender belongs to a zero tensor. */
typedef struct zeros_lender {
  td_lender base;
  td_tensor *zeros; /* (owned reference) */
} zeros_lender;

static void
give_back(td_lender *base) {
  td_tensor_unref(((zeros_lender *)base)->zeros);
  free(base);
}

td_status
td_zero_tensor_new_like(const td_tensor *like, td_tensor **out, td_error *error) {
  td_tensor *zeros;
  td_status status = td_tensor_new_like(like, &zeros, error);
  if (status) return status;
  if (zeros->storage->memory || !td_tensor_has_data(zeros)) {
    *out = zeros;
    return TD_OK;
  }
  zeros_lender *lender = TD_NEW(zeros_lender);
  *lender = (zeros_lender){{give_back}, zeros};
  td_storage *storage =
      td_storage_new_lent(zeros->storage->data, zeros->storage->n_bytes, &lender->base);
  *out = td_tensor_new_over(storage, zeros->dtype, zeros->device, zeros->n_dims, zeros->sizes,
                            zeros->strides, 0);
  return TD_OK;
}

bool
td_tensor_is_zero_tensor(const td_tensor *tensor) {
  const td_lender *lender = tensor->storage->lender;
  return lender && lender->give_back == give_back;
}

td_status
td_zero_tensor_refuse(td_error *error) {
  return td_error_set(error, TD_AUTOGRAD,
                      "ZeroTensors are immutable. Please use the materialized zero tensor obtained "
                      "using .clone() if you want a mutable tensor.");
}
