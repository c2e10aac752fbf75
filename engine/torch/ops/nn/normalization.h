/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Layers that shift and scale elements to mean 0 and variance 1. Then they scale by a weight and
 * add a bias; NULL means 1 and 0. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_batch_norm normalizes each channel of self [batch, channels, ...] over all else
 * (NativeBatchNormBackward0). If training, it uses the channel's mean and variance, and moves
 * running_mean and running_var towards them by momentum. Else it uses running_mean and running_var.
 * Both may be NULL if training. */
typedef struct td_batch_norm {
  td_tensor *weight, *bias, *running_mean, *running_var; /* (borrowed) [channels], or NULL */
  bool training;
  double momentum, eps;
} td_batch_norm;
td_status td_op_batch_norm(td_tensor *self, const td_batch_norm *norm, td_tensor **out,
                           td_error *error);

/* td_op_layer_norm normalizes over the last dimensions (NativeLayerNormBackward0). `sizes` are
 * those dimensions' sizes, and also the sizes of weight and bias. */
td_status td_op_layer_norm(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor *weight,
                           td_tensor *bias, double eps, td_tensor **out, td_error *error);

/* td_op_group_norm normalizes the channels of self [batch, channels, ...] in groups of neighbours
 * (NativeGroupNormBackward0). Weight and bias have an element per channel. */
td_status td_op_group_norm(td_tensor *self, int64_t groups, td_tensor *weight, td_tensor *bias,
                           double eps, td_tensor **out, td_error *error);
