/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The three products that make up every convolution, its gradients and its transposed form. They
 * work on contiguous arrays without history, by unfolding. The patches of images become the columns
 * of a matrix [channels kh kw, images oh ow]. That matrix is multiplied with the weight, seen as
 * [out_channels, channels kh kw]. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* Image [batch, groups channels, size], weight [groups out_channels, channels, kernel], output
 * [batch, groups out_channels, out_size]. Pairs are (height, width). */
typedef struct td_correlation {
  int64_t batch, groups, channels, out_channels;
  int64_t size[2], kernel[2], out_size[2];
  int64_t stride[2], padding[2], dilation[2];
} td_correlation;

/* td_correlation_apply: out[y] = sum over k of weight[k] image[stride y - padding + dilation k]. If
 * `accumulate`, it adds to out. td_correlation_adjoint is the transpose, from out to image; the
 * caller has filled image with zeros. td_correlation_weight is the derivative by the weight, and
 * writes weight. TD_OUT_OF_MEMORY. */
td_status td_correlation_apply(const td_correlation *self, td_tensor *image, td_tensor *weight,
                               td_tensor *out, bool accumulate, td_error *error);
td_status td_correlation_adjoint(const td_correlation *self, td_tensor *out, td_tensor *weight,
                                 td_tensor *image, td_error *error);
td_status td_correlation_weight(const td_correlation *self, td_tensor *image, td_tensor *out,
                                td_tensor *weight, td_error *error);
