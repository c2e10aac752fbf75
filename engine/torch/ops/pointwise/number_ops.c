/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations of a tensor and a number that is part of the operation: rsub, pow. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/integers.h"

#include <math.h>

typedef struct number_node {
  td_op_node op;
  double number;
} number_node;

/* Casts self to the dtype of the result, as beside a Python number, and makes the result. */
static td_status
number_operands(td_tensor *self, bool stays_integer, td_tensor **cast, td_tensor **out,
                td_error *error) {
  TD_TRY(td_op_want_dense(self, "pow", error));
  td_dtype whole = self->dtype == TD_BOOL ? TD_INT64 : self->dtype;
  td_dtype dtype = stays_integer ? whole : td_op_float_dtype(self->dtype);
  TD_TRY(td_kernel_cast(self, dtype, cast, error));
  return td_tensor_laid_out_like(self, dtype, self->device, out, error);
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
  return !td_dtype_is_differentiable(self->dtype) && number == floor(number);
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
  TD_TRY(td_op_check_sub(TD_FLOAT32, self->dtype, error));
  TD_TRY(number_operands(self, stays_integer(self, number), &cast, out, error));
  number_walk(&walk, *out, cast);
  double rounded = td_dtype_round((*out)->dtype, number);
  TD_DISPATCH_ALL((*out)->dtype, const T minuend = (T)rounded; NUMBER_ROWS(T, minuend - x))
  td_op_node *op = td_op_begin(&rsub_class, sizeof *op, TD_INPUTS(self));
  if (op) td_op_end(op, *out);
  return TD_OK;
}

/* The exponent may be complex, and so is the result then. */
typedef struct pow_node {
  td_op_node op;
  td_complex128 exponent;
  bool is_complex;
} pow_node;

/* r = x ^ e:  dx = dr conj(e x ^ (e - 1)), zero for e = 0 */
static td_tensor *
pow_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_complex128 exponent = ((pow_node *)op)->exponent;
  td_tensor *self, *power = NULL;
  if (exponent == 0) return td_calc_zeros(c, grad);
  self = SAVED(0);
  if (!((pow_node *)op)->is_complex)
    return MUL(grad, CONJ(SCALE(POWER(self, creal(exponent) - 1), creal(exponent))));
  if (!c->status) c->status = td_op_pow_complex(self, exponent - 1, &power, c->error);
  td_tensor *factor = c->status ? NULL : td_calc_keep(c, td_op_complex_scalar(self, exponent));
  return MUL(grad, CONJ(MUL(td_calc_keep(c, power), factor)));
}
static const td_op_class pow_class = TD_CALC_CLASS("PowBackward0", pow_calc);

/* Powers that are products or roots are so here too: the values are then PyTorch's. */
static void
real_pow_kernel(td_tensor *out, const td_tensor *in, double exponent) {
  td_walk walk;
  number_walk(&walk, out, in);
  if (exponent == 2)
    TD_DISPATCH(out->dtype, NUMBER_ROWS(T, x * x))
  else if (exponent == 3)
    TD_DISPATCH(out->dtype, NUMBER_ROWS(T, x * x * x))
  else if (td_dtype_compute(out->dtype) == TD_FLOAT32)
    NUMBER_ROWS(float, powf(x, (float)exponent))
  else
    TD_DISPATCH(out->dtype, const double y = exponent; NUMBER_ROWS(T, TD_POWER(x, y)))
}

#define COMPLEX_ROWS(expression)                                                                   \
  TD_DISPATCH_OVER(out->dtype, TD_DISPATCH_COMPLEX(NUMBER_ROWS(T, expression)))
static void
complex_pow_kernel(td_tensor *out, const td_tensor *in, td_complex128 exponent) {
  td_walk walk;
  number_walk(&walk, out, in);
  if (exponent == 0)
    td_kernel_fill(out, 1);
  else if (exponent == 1)
    COMPLEX_ROWS(x)
  else if (exponent == 2)
    COMPLEX_ROWS(x * x)
  else if (exponent == 3)
    COMPLEX_ROWS(x * x * x)
  else if (exponent == 0.5)
    COMPLEX_ROWS(csqrt(x))
  else if (exponent == -0.5)
    COMPLEX_ROWS(1 / csqrt(x))
  else if (exponent == -1)
    COMPLEX_ROWS(1 / x)
  else if (exponent == -2)
    COMPLEX_ROWS(1 / (x * x))
  else
    COMPLEX_ROWS(TD_POWER(x, (T)exponent))
}

static void
end_pow(td_tensor *self, td_complex128 exponent, bool is_complex, td_tensor *result) {
  pow_node *node = td_op_begin(&pow_class, sizeof *node, TD_INPUTS(self));
  if (!node) return;
  node->exponent = exponent;
  node->is_complex = is_complex;
  td_op_save(&node->op, 0, self);
  td_op_end(&node->op, result);
}

td_status
td_op_pow_scalar(td_tensor *self, double exponent, td_tensor **out, td_error *error) {
  if (stays_integer(self, exponent) && exponent < 0)
    return td_error_set(error, TD_INVALID, "Integers to negative integer powers are not allowed.");
  TD_LOCAL(cast);
  TD_TRY(number_operands(self, stays_integer(self, exponent), &cast, out, error));
  if (td_dtype_is_complex(self->dtype))
    complex_pow_kernel(*out, cast, exponent);
  else
    real_pow_kernel(*out, cast, td_dtype_round((*out)->dtype, exponent));
  end_pow(self, exponent, false, *out);
  return TD_OK;
}

td_status
td_op_pow_complex(td_tensor *self, td_complex128 exponent, td_tensor **out, td_error *error) {
  td_dtype dtype = td_op_wider(td_op_float_dtype(self->dtype), TD_COMPLEX64);
  TD_LOCAL(cast);
  TD_TRY(td_op_want_dense(self, "pow", error));
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_laid_out_like(self, dtype, self->device, out, error));
  complex_pow_kernel(*out, cast, exponent);
  end_pow(self, exponent, true, *out);
  return TD_OK;
}

/* r = x factor */
static td_tensor *
factor_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return SCALE(grad, ((number_node *)op)->number);
}
static const td_op_class mul_number_class = TD_CALC_CLASS("MulBackward1", factor_calc);

/* r = x / divisor */
static td_tensor *
divisor_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return td_calc_div_number(c, grad, ((number_node *)op)->number);
}
static const td_op_class div_number_class = TD_CALC_CLASS("DivBackward1", divisor_calc);

td_status
td_op_mul_number(td_tensor *self, double factor, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *plain = td_calc_keep(c, td_tensor_detach(self));
  TD_TRY(td_calc_end(c, MUL(plain, NUMBER(plain, factor)), out));
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
  node->number = divisor;
  td_op_end(&node->op, *out);
  return TD_OK;
}

/* r = x + number or x - number */
static td_tensor *
same_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return grad;
}
static const td_op_class add_number_class = TD_CALC_CLASS("AddBackward1", same_calc);
static const td_op_class sub_number_class = TD_CALC_CLASS("SubBackward1", same_calc);

td_status
td_op_add_number(td_tensor *self, double number, bool subtract, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *plain = td_calc_bare(c, self);
  TD_TRY(td_calc_end(c, ADD(plain, NUMBER(self, subtract ? -number : number)), out));
  td_op_node *op =
      td_op_begin(subtract ? &sub_number_class : &add_number_class, sizeof *op, TD_INPUTS(self));
  if (op) td_op_end(op, *out);
  return TD_OK;
}
