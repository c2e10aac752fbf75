/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/dropout.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/random/random.h"

td_status
td_op_dropout(td_tensor *self, double p, bool training, td_tensor **out, td_error *error) {
  TD_LOCAL(noise);
  if (p < 0 || p > 1)
    return td_error_set(error, TD_INVALID,
                        "dropout probability has to be between 0 and 1, but got %g", p);
  if (!training || p == 0 || td_tensor_n_elements(self) == 0) {
    *out = td_tensor_ref(self);
    return TD_OK;
  }
  TD_TRY(td_op_want_floating(self, "dropout", error));
  td_dtype wide = td_dtype_compute(self->dtype);
  TD_TRY(td_tensor_new(wide, self->device, self->n_dims, self->sizes, &noise, error));
  if (p < 1) TD_TRY(td_op_dropout_noise(noise, 1 - p, error));
  TD_TRY(td_op_rounded(&noise, self->dtype, error));
  return td_op_mul(self, noise, out, error);
}
