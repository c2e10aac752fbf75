/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Padding. `pads` has n numbers: how many elements to add before and after the last dimension, then
 * the last but one, and so on. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

typedef enum td_padding {
  TD_PADDING_CONSTANT,
  TD_PADDING_REFLECT,
  TD_PADDING_REPLICATE
} td_padding;

/* td_op_constant_pad adds a number (ConstantPadNdBackward0). Negative numbers take elements away.
 */
td_status td_op_constant_pad(td_tensor *self, int n, const int64_t *pads, double value,
                             td_tensor **out, td_error *error);

/* td_op_pad mirrors or repeats elements of one to three dimensions (ReflectionPad1DBackward0,
 * ReplicationPad2DBackward0 ...). */
td_status td_op_pad(td_tensor *self, td_padding mode, int n, const int64_t *pads, td_tensor **out,
                    td_error *error);
