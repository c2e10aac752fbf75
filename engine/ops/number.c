/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations of a tensor and a number that is part of the operation: rsub, pow. */
#include "engine/ops/calc.h"
#include "engine/ops/integers.h"

#include <math.h>

td_tensor *
td_op_scalar(const td_tensor *like, double value, bool is_integer) {
  td_dtype own = is_integer ? TD_INT64 : TD_FLOAT32;
  bool whole = like->dtype == TD_INT64 || like->dtype == TD_INT32;
  bool fits = td_dtype_is_differentiable(like->dtype) || (is_integer && whole);
  td_tensor *scalar = td_tensor_new_scalar(fits ? like->dtype : own, TD_CPU, value);
  scalar->is_number = true;
  return scalar;
}

typedef struct number_node {
  td_op_node op;
  double number;
} number_node;

/* Casts self to the dtype of the result, as beside a Python number, and makes the result. */
static td_status
number_operands(td_tensor *self, bool stays_integer, td_tensor **cast, td_tensor **out,
                td_error *error) {
  TD_TRY(td_op_want_dense(self, "pow", error));
  TD_TRY(td_op_want_real(self, "pow", error));
  td_dtype dtype = stays_integer ? (self->dtype == TD_INT32 ? TD_INT32 : TD_INT64)
                                 : td_op_float_dtype(self->dtype);
  TD_TRY(td_kernel_cast(self, dtype, cast, error));
  return td_tensor_new_empty(dtype, self->device, self->n_dims, self->sizes, out, error);
}

#define NUMBER_ROWS(T, expression)                                                                 \
  while (td_walk_row(&walk)) {                                                                     \
    T *to = walk.at[0];                                                                            \
    const T *from = walk.at[1];                                                                    \
    for (int64_t i = 0; i < walk.n; i++) {                                                         \
      const T x = from[i * walk.step[1]];                                                          \
      to[i * walk.step[0]] = (T)(expression);                                                      \
    }                                                                                              \
  }

static void
number_walk(td_walk *walk, td_tensor *out, const td_tensor *in) {
  td_walk_init(walk, out->n_dims, out->sizes, 2, (const td_tensor *[]){out, in});
}

static bool
stays_integer(const td_tensor *self, double number) {
  return !td_dtype_is_floating(self->dtype) && number == floor(number);
}

/* r = number - x:  dx = -dr */
static td_status
rsub_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_neg(grad, out, error);
}
static const td_op_class rsub_class = TD_OP_CLASS("RsubBackward1", rsub_formula);

td_status
td_op_rsub(td_tensor *self, double number, td_tensor **out, td_error *error) {
  td_walk walk;
  TD_LOCAL(cast);
  TD_TRY(number_operands(self, stays_integer(self, number), &cast, out, error));
  number_walk(&walk, *out, cast);
  TD_DISPATCH((*out)->dtype, const T minuend = (T)number; NUMBER_ROWS(T, minuend - x))
  td_op_node *op = td_op_begin(&rsub_class, sizeof *op, TD_INPUTS(self));
  if (op) td_op_end(op, *out);
  return TD_OK;
}

/* r = x ^ e:  dx = dr (e x ^ (e - 1)), zero for e = 0 */
static td_status
pow_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  double exponent = ((number_node *)op)->number;
  TD_LOCAL(factor);
  TD_LOCAL(self);
  TD_LOCAL(power);
  TD_LOCAL(slope);
  factor = td_op_scalar(grad, exponent, false);
  if (exponent == 0) return td_op_mul(grad, factor, out, error);
  TD_TRY(td_op_saved(op, 0, &self, error));
  TD_TRY(td_op_pow_scalar(self, exponent - 1, &power, error));
  TD_TRY(td_op_mul(power, factor, &slope, error));
  return td_op_mul(grad, slope, out, error);
}
static const td_op_class pow_class = TD_OP_CLASS("PowBackward0", pow_formula);

/* The exponents that PyTorch computes by products are products here too: the values are then its.
 */
static void
pow_kernel(td_tensor *out, const td_tensor *in, double exponent) {
  td_walk walk;
  number_walk(&walk, out, in);
  if (exponent == 2)
    TD_DISPATCH(out->dtype, NUMBER_ROWS(T, x * x))
  else if (exponent == 3)
    TD_DISPATCH(out->dtype, NUMBER_ROWS(T, x * x * x))
  else if (out->dtype == TD_FLOAT32)
    NUMBER_ROWS(float, powf(x, (float)exponent))
  else
    TD_DISPATCH(out->dtype, const double y = exponent; NUMBER_ROWS(T, TD_POWER(x, y)))
}

td_status
td_op_pow_scalar(td_tensor *self, double exponent, td_tensor **out, td_error *error) {
  if (stays_integer(self, exponent) && exponent < 0)
    return td_error_set(error, TD_INVALID, "Integers to negative integer powers are not allowed.");
  TD_LOCAL(cast);
  TD_TRY(number_operands(self, stays_integer(self, exponent), &cast, out, error));
  pow_kernel(*out, cast, exponent);
  number_node *node = td_op_begin(&pow_class, sizeof *node, TD_INPUTS(self));
  if (node) {
    node->number = exponent;
    td_op_save(&node->op, 0, self);
    td_op_end(&node->op, *out);
  }
  return TD_OK;
}

/* r = x factor */
static td_tensor *
factor_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return SCALE(grad, ((number_node *)op)->number);
}
static const td_op_class mul_number_class = TD_CALC_CLASS("MulBackward1", factor_calc);
static const td_op_class div_number_class = TD_CALC_CLASS("DivBackward1", factor_calc);

td_status
td_op_mul_number(td_tensor *self, double factor, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *plain = td_calc_keep(c, td_tensor_detach(self));
  TD_TRY(td_calc_end(c, SCALE(plain, factor), out));
  number_node *node = td_op_begin(&mul_number_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->number = factor;
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_div_number(td_tensor *self, double divisor, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *plain = td_calc_keep(c, td_tensor_detach(self));
  TD_TRY(td_calc_end(c, DIV(plain, NUMBER(plain, divisor)), out));
  number_node *node = td_op_begin(&div_number_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->number = 1 / divisor;
  td_op_end(&node->op, *out);
  return TD_OK;
}
