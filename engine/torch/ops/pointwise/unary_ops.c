/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elementwise functions of one tensor: unary.def is expanded into a kernel, a formula, a class and
 * an operation per row. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/special.h"
#include "engine/torch/tensor/zero_tensor.h"

#include <math.h>

/* The sign of real numbers is flat: its gradient is what PyTorch does not even store. */
static td_tensor *
zero_tensor(td_calc *c, const td_tensor *like) {
  td_tensor *made = NULL;
  if (!c->status) c->status = td_zero_tensor_new_like(like, &made, c->error);
  return td_calc_keep(c, made);
}

/* 1 / sqrt(z^2 - 1): of a complex number, sqrt(z^2) is not z. */
static td_tensor *
acosh_slope(td_calc *c, td_tensor *self) {
  if (c->status || !td_dtype_is_complex(self->dtype))
    return td_calc_rsqrt(c, PLUS(SQUARE(self), -1));
  td_tensor *above = td_calc_rsqrt(c, PLUS(self, 1));
  return MUL(above, td_calc_rsqrt(c, PLUS(self, -1)));
}

/* s = z / |z|:  dz = (ds - Re(ds conj(s)) s) / |z|, 0 where z is */
static td_tensor *
sgn_gradient(td_calc *c, td_tensor *grad, td_tensor *self) {
  if (c->status || !td_dtype_is_complex(self->dtype)) return zero_tensor(c, grad);
  td_tensor *size = ABS(self), *sign = SGN(self), *zero = NUMBER(size, 0);
  td_tensor *outward = td_calc_real(c, MUL(grad, CONJ(sign)));
  td_tensor *slope = DIV(SUB(grad, MUL(outward, sign)), size);
  return WHERE(td_calc_eq(c, size, zero), NUMBER(self, 0), slope);
}

#define UNARY_ROWS(T, expression)                                                                  \
  while (td_walk_row(&walk)) {                                                                     \
    T *to = walk.at[0];                                                                            \
    const T *from = walk.at[1];                                                                    \
    for (int64_t i = 0; walk.dense && i < walk.n; i++) {                                           \
      const T x = from[i];                                                                         \
      to[i] = (T)(expression);                                                                     \
    }                                                                                              \
    for (int64_t i = 0; !walk.dense && i < walk.n; i++) {                                          \
      const T x = from[i * walk.step[1]];                                                          \
      to[i * walk.step[0]] = (T)(expression);                                                      \
    }                                                                                              \
  }

typedef void (*unary_kernel)(td_tensor *out, const td_tensor *in);

#define unary_walk(walk, name, out, in)                                                            \
  td_walk_init_named(walk, name, 1, (out)->n_dims, (out)->sizes, 2, (const td_tensor *[]){out, in})

/* FLOATING rows have no kernel for integers. */
#define F TD_OF_REAL
#define C TD_OF_COMPLEX
#define D TD_OF_OURS
#define FLOATING_ONLY(T, expression) TD_DISPATCH_FLOATING(out->dtype, UNARY_ROWS(T, expression))
#define EVERY_REAL(T, expression) TD_DISPATCH(out->dtype, UNARY_ROWS(T, expression))
#define KERNEL_FLOATING FLOATING_ONLY
#define KERNEL_INTEGRAL EVERY_REAL
#define KERNEL_COMPLEX(T, expression)                                                              \
  TD_DISPATCH_OVER(out->dtype, TD_DISPATCH_FLOATS(UNARY_ROWS(T, expression))                       \
                                   TD_DISPATCH_COMPLEX(UNARY_ROWS(T, expression)))
#define KERNEL_EVERY(T, expression) TD_DISPATCH_ALL(out->dtype, UNARY_ROWS(T, expression))
#define TD_UNARY(name, node_name, kept, dtypes, expression, gradient)                              \
  static void name##_kernel(td_tensor *out, const td_tensor *in) {                                 \
    td_walk walk;                                                                                  \
    unary_walk(&walk, #name ".out", out, in);                                                      \
    KERNEL_##dtypes(T, expression)                                                                 \
  }
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY
#undef F
#undef C
#undef D

typedef enum unary_kept { NOTHING, SELF, RESULT, BOTH } unary_kept; /* BOTH: SELF | RESULT */
typedef enum unary_dtypes { INTEGRAL, FLOATING, COMPLEX, EVERY } unary_dtypes;

typedef struct unary_row {
  const char *name;
  unary_kept kept;
  unary_dtypes dtypes;
  unary_kernel kernel;
} unary_row;

/* Negation is the one function that takes sparse tensors: -1 times them. */
static td_status
negated(td_tensor *self, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *minus = td_calc_keep(c, td_op_scalar(self, -1, true));
  return td_calc_end(c, MUL(td_calc_bare(c, self), minus), out);
}

static td_status
unary_result(td_tensor *self, const unary_row *row, td_tensor **out, td_error *error) {
  bool widens = row->dtypes == FLOATING || row->dtypes == COMPLEX;
  if (self->sparse && strcmp(row->name, "neg") == 0) return negated(self, out, error);
  TD_TRY(td_op_want_dense(self, row->name, error));
  TD_TRY(td_op_check_dtype(row->name, self->dtype, error));
  if (td_dtype_is_complex(self->dtype) && strcmp(row->name, "abs") == 0)
    return td_complex_abs(self, out, error);
  if (row->dtypes == INTEGRAL || row->dtypes == FLOATING)
    TD_TRY(td_op_want_real(self, row->name, error));
  td_dtype dtype = widens ? td_op_float_dtype(self->dtype) : self->dtype;
  TD_LOCAL(cast);
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_laid_out_like(self, dtype, self->device, out, error));
  row->kernel(*out, cast);
  return TD_OK;
}

static td_status
unary(const td_op_class *klass, const unary_row *row, td_tensor *self, td_tensor **out,
      td_error *error) {
  td_tensor *result;
  TD_TRY(unary_result(self, row, &result, error));
  td_op_node *op = td_op_begin(klass, sizeof *op, TD_INPUTS(self));
  if (op) {
    if (row->kept & SELF) td_op_save(op, 0, self);
    td_op_end(op, result);
    if (row->kept & RESULT) td_op_save_result(op, row->kept == BOTH, result);
  }
  *out = result;
  return TD_OK;
}

#define TD_UNARY(name_, node_name, kept_, dtypes_, expression, gradient)                           \
  static td_tensor *name_##_calc(td_calc *c, td_op_node *op, td_tensor *g, uint32_t which) {       \
    td_tensor *k = SAVED(0);                                                                       \
    (void)k;                                                                                       \
    return gradient;                                                                               \
  }                                                                                                \
  static const td_op_class name_##_class = TD_CALC_CLASS(node_name, name_##_calc);                 \
  static const unary_row name_##_row = {                                                           \
      .name = #name_, .kept = kept_, .dtypes = dtypes_, .kernel = name_##_kernel};                 \
  td_status td_op_##name_(td_tensor *self, td_tensor **out, td_error *error) {                     \
    return unary(&name_##_class, &name_##_row, self, out, error);                                  \
  }
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY
