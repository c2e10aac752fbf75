/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Activations and clamps: elementwise functions of activation.def. See pointwise.h for the rules of
 * all operations. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_op_<name>_with takes the row's three numbers; NULL: zeros, for rows without. Integers become
 * float32, but for relu, threshold and the clamps, which keep them. */
#define TD_ACTIVATION(name, ...)                                                                   \
  td_status td_op_##name##_with(td_tensor *self, const double *numbers, td_tensor **out,           \
                                td_error *error);
#include "engine/ops/activation.def"
#undef TD_ACTIVATION

td_status td_op_relu(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_tanh(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_sigmoid(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_clamp_tensor is clamp between tensors (ClampBackward0, three edges); either may be NULL. */
td_status td_op_clamp_tensor(td_tensor *self, td_tensor *min, td_tensor *max, td_tensor **out,
                             td_error *error);
