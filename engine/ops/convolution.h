/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Convolution and pooling over images [batch, channels, height, width]. Pairs are (height, width).
 * See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_op_conv2d: weight [out_channels, in_channels, kernel_h, kernel_w], bias [out_channels] or NULL
 * (ConvolutionBackward0, edges input, weight, bias). */
td_status td_op_conv2d(td_tensor *input, td_tensor *weight, td_tensor *bias,
                       const int64_t stride[2], const int64_t padding[2], td_tensor **out,
                       td_error *error);

/* td_op_max_pool2d (MaxPool2DWithIndicesBackward0): the first of equal elements gets the gradient;
 * a NaN wins. */
td_status td_op_max_pool2d(td_tensor *self, const int64_t kernel[2], const int64_t stride[2],
                           const int64_t padding[2], td_tensor **out, td_error *error);
