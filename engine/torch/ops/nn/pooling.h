/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pooling over images [batch, channels, height, width], or [channels, height, width]. Pairs are
 * (height, width). See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* ceil_mode: a window that only partly lies in the padded image counts too. */
typedef struct td_pooling {
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  bool ceil_mode;
  bool count_include_pad;   /* of averages: places in the padding count */
  int64_t divisor_override; /* of averages: divide by this, if it is not 0 */
} td_pooling;

/* td_op_max_pool2d (MaxPool2DWithIndicesBackward0): the first of equal elements gets the gradient;
 * a NaN wins. *indices (may be NULL) becomes where in its plane each element was. Differentiable
 * twice (MaxPool2DWithIndicesBackwardBackward0). */
td_status td_op_max_pool2d(const td_pooling *pooling, td_tensor *self, td_tensor **out,
                           td_tensor **indices, td_error *error);

/* td_op_avg_pool2d (AvgPool2DBackward0); dilation does not apply. */
td_status td_op_avg_pool2d(const td_pooling *pooling, td_tensor *self, td_tensor **out,
                           td_error *error);

/* td_op_adaptive_avg_pool2d averages over as many windows as `size` says, which cover the image
 * (AdaptiveAvgPool2DBackward0; a mean, MeanBackward1, if there is one). */
td_status td_op_adaptive_avg_pool2d(const int64_t size[2], td_tensor *self, td_tensor **out,
                                    td_error *error);
