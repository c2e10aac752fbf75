/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calc: a formula as an expression. Each function does one operation and keeps the result until the
 * end. After a failure the functions do nothing. So MUL(grad, COS(SAVED(0))) needs no temporaries
 * and no checks:
 *
 *   static td_tensor *sin_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
 *     return MUL(grad, COS(SAVED(0)));
 *   }
 *   static const td_op_class sin_class = TD_CALC_CLASS("SinBackward0", sin_calc);
 *
 * A function returns what the calc owns, or an argument, or NULL (no gradient, or it failed). If
 * grad mode is on, operations are recorded, so such a formula can be differentiated again. Private
 * to engine/torch/ops. A calc belongs to one thread. */
#pragma once

#include "engine/torch/ops/base/gradient_sum.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"

#define TD_CALC_MAX 48

typedef struct td_calc {
  td_status status;
  td_error *error;
  td_tensor *made[TD_CALC_MAX]; /* (owned references) */
  int n;
} td_calc;

/* td_calc_formula computes a gradient by the expression of the node's class. TD_CALC_CLASS makes
 * such a class. */
td_status td_calc_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                          td_error *error);
#define TD_CALC_CLASS(name_, calc_)                                                                \
  {                                                                                                \
    {.name = (name_), .apply = td_op_apply, .release_variables = td_op_release},                   \
        .formula = td_calc_formula, .calc = (calc_)                                                \
  }

/* Some gradients PyTorch computes with a kernel that has a derivative of its own. td_calc_as_one
 * runs the kernel on operands without history. It makes one node for the whole, which saves the
 * operands. The class's expression is the kernel's derivative. */
typedef struct td_kernel_node {
  td_op_node op;
  double numbers[2];
} td_kernel_node;
typedef td_tensor *(*td_calc_kernel)(td_calc *c, td_tensor *const *operands,
                                     const double numbers[2]);
td_tensor *td_calc_as_one(td_calc *c, const td_op_class *klass, td_calc_kernel kernel,
                          td_tensor *const *operands, uint32_t n, const double numbers[2]);

/* td_calc_end drops everything but a new reference to the result, and returns the status. */
td_status td_calc_end(td_calc *c, td_tensor *result, td_tensor **out);

/* td_calc_keep takes a result into the calc; NULL if the operation failed. */
td_tensor *td_calc_keep(td_calc *c, td_tensor *made);

/* td_calc_bare is a tensor's part in a computation without history. */
td_tensor *td_calc_bare(td_calc *c, td_tensor *tensor);

#define TD_CALC_UNARY(X)                                                                           \
  X(neg)                                                                                           \
  X(conj)                                                                                          \
  X(real)                                                                                          \
  X(imag)                                                                                          \
  X(abs)                                                                                           \
  X(sign)                                                                                          \
  X(sgn)                                                                                           \
  X(exp)                                                                                           \
  X(log)                                                                                           \
  X(sqrt)                                                                                          \
  X(rsqrt)                                                                                         \
  X(reciprocal)                                                                                    \
  X(sin)                                                                                           \
  X(cos) X(sinh) X(cosh) X(isnan) X(sigmoid) X(digamma) X(trigamma) X(trunc) X(floor)
#define TD_CALC_BINARY(X) X(mul) X(div) X(eq) X(ne) X(lt) X(le) X(gt) X(ge)
#define X(name) td_tensor *td_calc_##name(td_calc *c, td_tensor *a);
TD_CALC_UNARY(X)
#undef X
#define X(name) td_tensor *td_calc_##name(td_calc *c, td_tensor *a, td_tensor *b);
TD_CALC_BINARY(X)
#undef X
td_tensor *td_calc_add(td_calc *c, td_tensor *a, td_tensor *b, double alpha);
/* A formula's number is part of the operation: MulBackward1, DivBackward1, one edge. */
td_tensor *td_calc_scale(td_calc *c, td_tensor *a, double factor);
td_tensor *td_calc_div_number(td_calc *c, td_tensor *a, double divisor);
td_tensor *td_calc_plus(td_calc *c, td_tensor *a, double number);
td_tensor *td_calc_rsub(td_calc *c, td_tensor *a, double number); /* number - a: SubBackward0 */
td_tensor *td_calc_power(td_calc *c, td_tensor *a, double exponent);
td_tensor *td_calc_number(td_calc *c, const td_tensor *like, double value);
td_tensor *td_calc_where(td_calc *c, td_tensor *condition, td_tensor *yes, td_tensor *no);
td_tensor *td_calc_sum(td_calc *c, td_tensor *a, int64_t dim); /* keeps the dimension as 1 */
td_tensor *td_calc_sum_dims(td_calc *c, td_tensor *a, int n, const int64_t *dims);
td_tensor *td_calc_sum_all(td_calc *c, td_tensor *a);
td_tensor *td_calc_unsqueeze(td_calc *c, td_tensor *a, int64_t dim);
td_tensor *td_calc_reshape(td_calc *c, td_tensor *a, const td_sizes *sizes);
td_tensor *td_calc_expand(td_calc *c, td_tensor *a, const td_sizes *sizes);
td_tensor *td_calc_to(td_calc *c, td_tensor *a, td_dtype dtype);
td_tensor *td_calc_zeros(td_calc *c, const td_tensor *like);
/* The tensor without history, halves as float32: for a formula that rounds once, at its end. */
td_tensor *td_calc_wide(td_calc *c, td_tensor *tensor);
td_tensor *td_calc_saved(td_calc *c, td_op_node *op, int index);

/* Short names for formulas, in which the calc is `c` and the node `op`. */
#define NEG(a) td_calc_neg(c, a)
#define CONJ(a) td_calc_conj(c, a)
#define EXP(a) td_calc_exp(c, a)
#define LOG(a) td_calc_log(c, a)
#define SIN(a) td_calc_sin(c, a)
#define COS(a) td_calc_cos(c, a)
#define SQRT(a) td_calc_sqrt(c, a)
#define SIGN(a) td_calc_sign(c, a)
#define SGN(a) td_calc_sgn(c, a)
#define ABS(a) td_calc_abs(c, a)
#define ADD(a, b) td_calc_add(c, a, b, 1)
#define SUB(a, b) td_calc_add(c, a, b, -1)
#define MUL(a, b) td_calc_mul(c, a, b)
#define DIV(a, b) td_calc_div(c, a, b)
#define SCALE(a, number) td_calc_scale(c, a, number)
#define PLUS(a, number) td_calc_plus(c, a, number)
#define RSUB(number, a) td_calc_rsub(c, a, number)
#define POWER(a, number) td_calc_power(c, a, number)
#define SQUARE(a) td_calc_power(c, a, 2)
#define NUMBER(like, value) td_calc_number(c, like, value)
#define WHERE(condition, yes, no) td_calc_where(c, condition, yes, no)
#define AS_ONE(klass, kernel, numbers, ...)                                                        \
  td_calc_as_one(c, &(klass), kernel, TD_INPUTS(__VA_ARGS__), numbers)
#define SAVED(index) td_calc_saved(c, op, index)

/* The formula of an operation: CALC(atan2) { return ... } defines atan2_calc. */
#define CALC(name)                                                                                 \
  static td_tensor *name##_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which)

/* Of the node that td_calc_as_one made: KERNEL(mse) { return ... } defines mse_kernel. */
#define KERNEL(name)                                                                               \
  static td_tensor *name##_kernel(td_calc *c, td_tensor *const *at, const double numbers[2])
#define KERNEL_NUMBERS ((td_kernel_node *)op)->numbers
