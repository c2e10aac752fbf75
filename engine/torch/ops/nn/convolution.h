/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Convolutions over images [batch, channels, height, width], or over lines [batch, channels,
 * length]; without the batch dimension they are one image. See pointwise.h for the rules of all
 * operations. */
#pragma once

#include "engine/torch/ops/nn/convolution_params.h"
#include "engine/torch/tensor/tensor.h"

/* td_op_convolution: weight [out_channels, in_channels / groups, kernel], transposed [in_channels,
 * out_channels / groups, kernel]; bias [out_channels] or NULL (ConvolutionBackward0, edges input,
 * weight, bias). Differentiable any number of times (ConvolutionBackwardBackward0). TD_SHAPE,
 * TD_INVALID with PyTorch's texts. */
td_status td_op_convolution(const td_convolution *shape, td_tensor *input, td_tensor *weight,
                            td_tensor *bias, td_tensor **out, td_error *error);
