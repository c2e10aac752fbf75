/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Comparisons: results are torch.bool and carry no history. See pointwise.h for the rules of all
 * operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_eq, ne, lt, le, gt, ge: see compare.def. Operands broadcast. */
#define TD_COMPARE(name, ...)                                                                      \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
#include "engine/torch/ops/pointwise/compare.def"
#undef TD_COMPARE

/* td_op_eq_into and its kin write ones and zeros in place. No gradient comes through. `is_number`
 * chooses PyTorch's name for the node: other is a number of the program, not a tensor. */
#define TD_COMPARE(name, ...)                                                                      \
  td_status td_op_##name##_into(td_tensor *self, td_tensor *other, bool is_number, td_error *error);
#include "engine/torch/ops/pointwise/compare.def"
#undef TD_COMPARE

/* td_op_isnan and td_op_isinf are all false for integers. */
td_status td_op_isnan(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_isinf(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_any and td_op_all reduce to a 0-dimensional torch.bool. */
td_status td_op_any(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_all(td_tensor *self, td_tensor **out, td_error *error);
