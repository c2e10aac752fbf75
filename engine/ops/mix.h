/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elementwise functions of several tensors. Operands broadcast. See pointwise.h for the rules of
 * all operations. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_op_maximum (MaximumBackward0), td_op_minimum (MinimumBackward0): equal ones share the
 * gradient. td_op_atan2 (Atan2Backward0), td_op_fmod, td_op_remainder (FmodBackward1,
 * RemainderBackward1), td_op_xlogy is self log other, 0 where self is (XlogyBackward0).
 * td_op_nextafter (NextafterBackward0) passes the gradient on to self; in PyTorch 1 it has no
 * derivative: TD_UNSUPPORTED when a pass gets there. */
td_status td_op_maximum(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_minimum(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_atan2(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_fmod(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_remainder(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_xlogy(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_nextafter(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

/* td_op_floor_divide has no gradient (NotImplemented). */
td_status td_op_floor_divide(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

/* td_op_lerp is self + weight (end - self): a number (LerpBackward0, two edges) or a tensor
 * (LerpBackward1). td_op_addcmul is self + value a b (AddcmulBackward0), td_op_addcdiv self + value
 * a / b (AddcdivBackward0), three edges. */
td_status td_op_lerp(td_tensor *self, td_tensor *end, double weight, td_tensor **out,
                     td_error *error);
td_status td_op_lerp_tensor(td_tensor *self, td_tensor *end, td_tensor *weight, td_tensor **out,
                            td_error *error);
td_status td_op_addcmul(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
                        td_error *error);
td_status td_op_addcdiv(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
                        td_error *error);

/* td_op_masked_fill writes a number where mask (torch.bool) is true (MaskedFillBackward0),
 * td_op_masked_fill_tensor a 0-dimensional tensor (MaskedFillBackward1, edges self, value). */
td_status td_op_masked_fill(td_tensor *self, td_tensor *mask, double value, td_tensor **out,
                            td_error *error);
td_status td_op_masked_fill_tensor(td_tensor *self, td_tensor *mask, td_tensor *value,
                                   td_tensor **out, td_error *error);

/* td_op_dropout multiplies by zeros and 1 / (1 - p), drawn with td_manual_seed's generator
 * (MulBackward0); self itself where not training or p is 0. TD_INVALID for p outside [0, 1]. */
td_status td_op_dropout(td_tensor *self, double p, bool training, td_tensor **out, td_error *error);
