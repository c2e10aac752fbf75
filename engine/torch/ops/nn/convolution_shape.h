/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which tensors may be convolved, and the sizes of the result. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/linalg/correlation.h"
#include "engine/torch/ops/nn/convolution_params.h"

/* td_convolution_check compares numbers of dimensions, channels and dtypes. TD_SHAPE, TD_DTYPE,
 * TD_INVALID with PyTorch's texts. The input may lack a batch dimension. */
td_status td_convolution_check(const td_convolution *shape, td_tensor *input, td_tensor *weight,
                               td_tensor *bias, td_error *error);

/* td_convolution_sizes turns a checked convolution of a batch into a correlation. It writes the
 * sizes of the result, as many as the input has. TD_SHAPE if the kernel does not fit. */
td_status td_convolution_sizes(const td_convolution *shape, const td_tensor *input,
                               const td_tensor *weight, td_correlation *correlation,
                               int64_t sizes[4], td_error *error);
