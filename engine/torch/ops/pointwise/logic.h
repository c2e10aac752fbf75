/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bits and truths. Results carry no history. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_bitwise_and, td_op_logical_or ...: see logic.def. Operands broadcast. */
#define TD_LOGIC(name, ...)                                                                        \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
#include "engine/torch/ops/pointwise/logic.def"
#undef TD_LOGIC

/* td_op_bitwise_not turns the bits of integers, and truths. td_op_logical_not tells what is zero.
 */
td_status td_op_bitwise_not(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_logical_not(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_any_dims and td_op_all_dims reduce some dimensions to torch.bool. */
td_status td_op_any_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                         td_tensor **out, td_error *error);
td_status td_op_all_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                         td_tensor **out, td_error *error);
