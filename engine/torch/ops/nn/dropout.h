/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dropout. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_dropout multiplies by zeros and 1 / (1 - p), drawn with td_manual_seed's generator
 * (MulBackward0). It returns self if not training, or if p is 0. TD_INVALID for p outside [0, 1].
 */
td_status td_op_dropout(td_tensor *self, double p, bool training, td_tensor **out, td_error *error);
