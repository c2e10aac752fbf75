/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pointwise operations: broadcasting arithmetic, elementwise functions, and updates in place.
 *
 * The rules of all operations of engine/torch/ops: inputs are borrowed. *out is a new reference. It
 * has a history if grad mode is on and an input requires grad. TD_SHAPE, TD_DTYPE, TD_DEVICE with
 * PyTorch's texts. Any thread.
 *
 * Dtypes follow PyTorch: bool < integers < floats, and in a category the wider one. But a
 * 0-dimensional operand does not widen an operand with dimensions, if both have one category
 * (floating, integer, bool). A number widens no tensor of its category. A 0-dimensional CPU operand
 * goes with any device. Halves and bytes: Note [Compute types] in engine/torch/tensor/dtype.h. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_add is self + alpha * other (AddBackward0), td_op_sub self - alpha * other (SubBackward0),
 * td_op_mul (MulBackward0), td_op_div true division (DivBackward0). Two edges each. */
td_status td_op_add(td_tensor *self, td_tensor *other, double alpha, td_tensor **out,
                    td_error *error);
td_status td_op_sub(td_tensor *self, td_tensor *other, double alpha, td_tensor **out,
                    td_error *error);
td_status td_op_mul(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_div(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

/* td_op_rsub is number - self (RsubBackward1, one edge). number / self is reciprocal, mul. */
td_status td_op_rsub(td_tensor *self, double number, td_tensor **out, td_error *error);

/* td_op_mul_number, td_op_div_number and td_op_add_number are what some compositions of PyTorch are
 * made of (MulBackward1, DivBackward1, AddBackward1, SubBackward1, one edge). */
td_status td_op_mul_number(td_tensor *self, double factor, td_tensor **out, td_error *error);
td_status td_op_add_number(td_tensor *self, double number, bool subtract, td_tensor **out,
                           td_error *error);
td_status td_op_div_number(td_tensor *self, double divisor, td_tensor **out, td_error *error);

/* td_op_pow_scalar is self ** exponent (PowBackward0, one edge). An integer tensor with a whole
 * exponent >= 0 stays one. td_op_pow_complex is the same with a complex exponent. td_op_pow is
 * tensor ** tensor (PowBackward1, two edges). */
td_status td_op_pow_scalar(td_tensor *self, double exponent, td_tensor **out, td_error *error);
td_status td_op_pow_complex(td_tensor *self, td_complex128 exponent, td_tensor **out,
                            td_error *error);
td_status td_op_pow(td_tensor *self, td_tensor *exponent, td_tensor **out, td_error *error);

/* td_op_number_pow is number ** tensor (PowBackward2, one edge; in PyTorch 1 td_op_pow). */
td_status td_op_number_pow(td_tensor *base, td_tensor *exponent, td_tensor **out, td_error *error);

/* td_op_where takes an element of self if its condition (torch.bool) is true, else one of other
 * (WhereBackward0, edges self, other). */
td_status td_op_where(td_tensor *condition, td_tensor *self, td_tensor *other, td_tensor **out,
                      td_error *error);

/* td_op_heaviside is 0 below zero, 1 above it, `values` at it (NotImplemented: no derivative). */
td_status td_op_heaviside(td_tensor *self, td_tensor *values, td_tensor **out, td_error *error);

/* td_op_neg, td_op_exp, ...: see unary.def. */
#define TD_UNARY(name, ...)                                                                        \
  td_status td_op_##name(td_tensor *self, td_tensor **out, td_error *error);
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY

/* Activations and clamps: td_op_<name>_with is a row of activation.def and takes its three numbers;
 * NULL means zeros. Integers become float32; relu, threshold and the clamps keep them. */
#define TD_ACTIVATION(name, ...)                                                                   \
  td_status td_op_##name##_with(td_tensor *self, const double *numbers, td_tensor **out,           \
                                td_error *error);
#include "engine/torch/ops/pointwise/activation.def"
#undef TD_ACTIVATION

td_status td_op_relu(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_tanh(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_sigmoid(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_clamp_tensor is clamp between tensors (ClampBackward0, three edges); either may be NULL. */
td_status td_op_clamp_tensor(td_tensor *self, td_tensor *min, td_tensor *max, td_tensor **out,
                             td_error *error);

/* td_op_maximum, td_op_atan2, ...: see binary.def. Equal operands of td_op_maximum and
 * td_op_minimum share the gradient. td_op_xlogy is self log other, and 0 if self is 0. */
#define TD_BINARY(name, ...)                                                                       \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
#include "engine/torch/ops/pointwise/binary.def"
#undef TD_BINARY

/* td_op_nextafter (NextafterBackward0) passes the gradient on to self. In PyTorch 1 it has no
 * derivative: TD_UNSUPPORTED when a pass gets there. */
td_status td_op_nextafter(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

/* td_op_floor_divide has no gradient (NotImplemented). */
td_status td_op_floor_divide(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

/* td_op_lerp is self + weight (end - self), of a number (LerpBackward0, two edges) or a tensor
 * (LerpBackward1). td_op_addcmul is self + value a b (AddcmulBackward0, three edges). td_op_addcdiv
 * is self + value a / b (AddcdivBackward0, three edges). */
td_status td_op_lerp(td_tensor *self, td_tensor *end, double weight, td_tensor **out,
                     td_error *error);
td_status td_op_lerp_tensor(td_tensor *self, td_tensor *end, td_tensor *weight, td_tensor **out,
                            td_error *error);
td_status td_op_addcmul(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
                        td_error *error);
td_status td_op_addcdiv(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
                        td_error *error);

/* td_op_masked_fill writes a number at the places where mask (torch.bool) is true
 * (MaskedFillBackward0). td_op_masked_fill_tensor writes a 0-dimensional tensor
 * (MaskedFillBackward1, edges self, value). */
td_status td_op_masked_fill(td_tensor *self, td_tensor *mask, double value, td_tensor **out,
                            td_error *error);
td_status td_op_masked_fill_tensor(td_tensor *self, td_tensor *mask, td_tensor *value,
                                   td_tensor **out, td_error *error);

/* Operations in place (updates.c). `other` broadcasts to self, and the result must go into self's
 * dtype. The tensor's version is counted up. If the write is tracked, the tensor's history becomes
 * the operation's; that of a view goes through CopySlices. TD_AUTOGRAD with PyTorch's texts if
 * nobody may write into the tensor (engine/torch/graph/views.h). td_op_add_into: self += alpha *
 * other. td_op_exp_into, ...: see unary.def. */
td_status td_op_add_into(td_tensor *self, td_tensor *other, double alpha, td_error *error);
td_status td_op_sub_into(td_tensor *self, td_tensor *other, double alpha, td_error *error);
td_status td_op_mul_into(td_tensor *self, td_tensor *other, td_error *error);
td_status td_op_div_into(td_tensor *self, td_tensor *other, td_error *error);
#define TD_UNARY(name, ...) td_status td_op_##name##_into(td_tensor *self, td_error *error);
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY

/* td_op_copy_into casts and broadcasts (CopyBackwards). td_op_fill_into writes a number
 * (FillBackward2), td_op_fill_tensor_into a 0-dimensional tensor (FillBackward3). td_op_zero_into
 * writes zeros (ZeroBackward0). */
td_status td_op_copy_into(td_tensor *self, td_tensor *source, td_error *error);
td_status td_op_fill_tensor_into(td_tensor *self, td_tensor *value, td_error *error);
td_status td_op_zero_into(td_tensor *self, td_error *error);
td_status td_op_fill_into(td_tensor *self, td_complex128 value, td_error *error);
