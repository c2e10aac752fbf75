/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/normalize.h"

#include "engine/torch/ops/base/gradient_sum.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"

enum { INPUT, WEIGHT, BIAS };

bool
td_normalize_wants_graph(td_tensor *grad, td_tensor *input, td_tensor *weight) {
  return td_grad_mode() && (td_requires_grad(grad) || td_requires_grad(input) ||
                            (weight && td_requires_grad(weight)));
}

static td_status
mean_over(const td_normalized *self, td_tensor *x, td_tensor **out, td_error *error) {
  int64_t dims[TD_MAX_DIMS];
  for (int i = 0; i < self->n_dims; i++)
    dims[i] = self->dims[i];
  return td_op_mean_dims(x, self->n_dims, dims, true, out, error);
}

/* x - mean and 1 / sqrt(var + eps) */
static td_status
moments(const td_normalized *self, td_tensor **centred, td_tensor **invstd, td_error *error) {
  TD_LOCAL(mean);
  TD_LOCAL(square);
  TD_LOCAL(var);
  TD_LOCAL(eps);
  TD_LOCAL(shifted);
  if (self->mean) {
    *invstd = td_tensor_ref(self->invstd);
    return td_op_sub(self->input, self->mean, 1, centred, error);
  }
  TD_TRY(mean_over(self, self->input, &mean, error));
  TD_TRY(td_op_sub(self->input, mean, 1, centred, error));
  TD_TRY(td_op_mul(*centred, *centred, &square, error));
  TD_TRY(mean_over(self, square, &var, error));
  eps = td_op_scalar(var, self->eps, false);
  TD_TRY(td_op_add(var, eps, 1, &shifted, error));
  return td_op_pow_scalar(shifted, -0.5, invstd, error);
}

/* With g = w dy:  dx = (g - mean(g) - n mean(g n)) / std, where n is what was normalized; g / std
 * where the moments were given. */
static td_status
input_gradient(const td_normalized *self, td_tensor *grad, td_tensor *normal, td_tensor *invstd,
               td_tensor **out, td_error *error) {
  TD_LOCAL(weighted);
  TD_LOCAL(mean);
  TD_LOCAL(product);
  TD_LOCAL(product_mean);
  TD_LOCAL(along);
  TD_LOCAL(centred);
  TD_LOCAL(rest);
  if (self->weight)
    TD_TRY(td_op_mul(grad, self->weight, &weighted, error));
  else
    weighted = td_tensor_ref(grad);
  if (self->mean) return td_op_mul(weighted, invstd, out, error);
  TD_TRY(mean_over(self, weighted, &mean, error));
  TD_TRY(td_op_mul(weighted, normal, &product, error));
  TD_TRY(mean_over(self, product, &product_mean, error));
  TD_TRY(td_op_mul(normal, product_mean, &along, error));
  TD_TRY(td_op_sub(weighted, mean, 1, &centred, error));
  TD_TRY(td_op_sub(centred, along, 1, &rest, error));
  return td_op_mul(rest, invstd, out, error);
}

td_status
td_normalize_gradients(const td_normalized *self, td_tensor *grad, const bool wanted[3],
                       td_tensor *out[3], td_error *error) {
  TD_LOCAL(centred);
  TD_LOCAL(invstd);
  TD_LOCAL(normal);
  TD_LOCAL(product);
  TD_LOCAL(dx);
  TD_LOCAL(dw);
  TD_LOCAL(db);
  TD_TRY(moments(self, &centred, &invstd, error));
  TD_TRY(td_op_mul(centred, invstd, &normal, error));
  if (wanted[INPUT]) TD_TRY(input_gradient(self, grad, normal, invstd, &dx, error));
  if (wanted[WEIGHT]) TD_TRY(td_op_mul(grad, normal, &product, error));
  if (wanted[WEIGHT]) TD_TRY(td_op_reduce_to(product, &self->affine, &dw, error));
  if (wanted[BIAS]) TD_TRY(td_op_reduce_to(grad, &self->affine, &db, error));
  out[INPUT] = TD_TAKE(dx);
  out[WEIGHT] = TD_TAKE(dw);
  out[BIAS] = TD_TAKE(db);
  return TD_OK;
}
