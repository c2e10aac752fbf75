/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reductions. Dimensions may be negative. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_op_sum and td_op_mean reduce everything (SumBackward0, MeanBackward0), the _dims versions some
 * dimensions (SumBackward1, MeanBackward1; n_dims 0: all). A sum of integers is int64; a mean needs
 * a floating dtype. */
td_status td_op_sum(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_mean(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_sum_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                         td_tensor **out, td_error *error);
td_status td_op_mean_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                          td_tensor **out, td_error *error);

/* td_op_max is the largest element (MaxBackward1; equal ones share the gradient). */
td_status td_op_max(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_argmax returns int64 row-major indices, td_op_argmax_dim those along one dimension. No
 * gradient. */
td_status td_op_argmax(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_argmax_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out,
                           td_error *error);
