/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reductions. Dimensions may be negative. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_sum and td_op_mean reduce everything (SumBackward0, MeanBackward0). The _dims versions
 * reduce some dimensions (SumBackward1, MeanBackward1; n_dims 0: all). A sum of integers is int64.
 * A mean needs a floating dtype. */
td_status td_op_sum(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_mean(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_sum_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                         td_tensor **out, td_error *error);
td_status td_op_mean_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                          td_tensor **out, td_error *error);

/* td_op_max is the largest element (MaxBackward1). Equal elements share the gradient. */
td_status td_op_max(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_median is the lower one of the middle elements (MedianBackward0). Equal elements share the
 * gradient. */
td_status td_op_median(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_nanmedian is the same of the elements that are no NaN (NanmedianBackward0). */
td_status td_op_nanmedian(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_argmax returns int64 row-major indices, td_op_argmax_dim those along one dimension. No
 * gradient. */
td_status td_op_argmax(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_argmax_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out,
                           td_error *error);

/* td_op_min is the smallest element (MinBackward1). td_op_amax and td_op_amin reduce dimensions
 * (AmaxBackward0; n_dims 0: all). td_op_max_dim and td_op_min_dim give the values and their indices
 * (MaxBackward0). Only values have a gradient; it goes to the first of equal elements.
 * TD_UNSUPPORTED for complex numbers. */
td_status td_op_min(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_amax(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                     td_tensor **out, td_error *error);
td_status td_op_amin(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                     td_tensor **out, td_error *error);
td_status td_op_max_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                        td_tensor **indices, td_error *error);
td_status td_op_min_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                        td_tensor **indices, td_error *error);
td_status td_op_argmin(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_argmin_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out,
                           td_error *error);

/* Here n_dims 0 means all dimensions. td_op_var and td_op_std divide by n - correction
 * (VarBackward0, StdBackward0). td_op_norm is (sum |x|^p)^(1/p). For p 0 it counts the elements
 * that are not 0; for infinite p it is the extreme. Its node is LinalgVectorNormBackward0, in
 * PyTorch 1 NormBackward1. td_op_vector_norm has the first name in all versions. */
td_status td_op_var(td_tensor *self, int n_dims, const int64_t *dims, double correction,
                    bool keepdim, td_tensor **out, td_error *error);
td_status td_op_std(td_tensor *self, int n_dims, const int64_t *dims, double correction,
                    bool keepdim, td_tensor **out, td_error *error);
/* td_op_var_mean and td_op_std_mean give the mean besides (VarMeanBackward0, StdMeanBackward0). */
td_status td_op_var_mean(td_tensor *self, int n_dims, const int64_t *dims, double correction,
                         bool keepdim, td_tensor **var, td_tensor **mean, td_error *error);
td_status td_op_std_mean(td_tensor *self, int n_dims, const int64_t *dims, double correction,
                         bool keepdim, td_tensor **std, td_tensor **mean, td_error *error);
td_status td_op_norm(td_tensor *self, double p, int n_dims, const int64_t *dims, bool keepdim,
                     td_tensor **out, td_error *error);
td_status td_op_old_norm(td_tensor *self, double p, int n_dims, const int64_t *dims, bool keepdim,
                         td_tensor **out, td_error *error); /* always NormBackward1 */
td_status td_op_vector_norm(td_tensor *self, double p, int n_dims, const int64_t *dims,
                            bool keepdim, td_tensor **out, td_error *error);

/* td_op_logsumexp, ...: see reduction.def. Here too, n_dims 0 means all dimensions. */
#define TD_REDUCTION(name, ...)                                                                    \
  td_status td_op_##name(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,           \
                         td_tensor **out, td_error *error);
#include "engine/torch/ops/reduction/reduction.def"
#undef TD_REDUCTION

/* td_op_prod (ProdBackward0), td_op_prod_dim (ProdBackward1), td_op_cumsum (CumsumBackward0),
 * td_op_cumprod (CumprodBackward0; its gradient divides by the elements). Integers and booleans
 * become int64. */
td_status td_op_prod(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_prod_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out,
                         td_error *error);
td_status td_op_cumprod(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);
td_status td_op_cumsum(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);
