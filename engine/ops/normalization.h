/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Layers that shift and scale elements to mean 0 and variance 1, then by a weight and a bias, which
 * may be NULL (1 and 0). See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_op_batch_norm normalizes each channel of self [batch, channels, ...] over all else
 * (NativeBatchNormBackward0). If training, by its own mean and variance, towards which it moves
 * running_mean and running_var by momentum; else by those. Both may be NULL if training. */
typedef struct td_batch_norm {
  td_tensor *weight, *bias, *running_mean, *running_var; /* (borrowed) [channels], or NULL */
  bool training;
  double momentum, eps;
} td_batch_norm;
td_status td_op_batch_norm(td_tensor *self, const td_batch_norm *norm, td_tensor **out,
                           td_error *error);

/* td_op_layer_norm normalizes over the last dimensions, whose sizes are given and are weight's and
 * bias's too (NativeLayerNormBackward0). */
td_status td_op_layer_norm(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor *weight,
                           td_tensor *bias, double eps, td_tensor **out, td_error *error);

/* td_op_group_norm normalizes the channels of self [batch, channels, ...] in groups of neighbours;
 * weight and bias are by channel (NativeGroupNormBackward0). */
td_status td_op_group_norm(td_tensor *self, int64_t groups, td_tensor *weight, td_tensor *bias,
                           double eps, td_tensor **out, td_error *error);
