/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elementwise functions of one tensor: unary.def is expanded into a kernel, a class and an
 * operation per row. */
#include "engine/ops/compare.h"
#include "engine/ops/op.h"

#include <math.h>

/* From here on a formula knows only the gradient and the tensor that the row's `kept` names. */
#define FORMULA(name)                                                                              \
  static td_status name##_formula(td_tensor *grad, td_tensor *kept, td_tensor **out,               \
                                  td_error *error)

FORMULA(neg) {
  return td_op_neg(grad, out, error);
}

FORMULA(abs) {
  TD_LOCAL(sign);
  TD_TRY(td_op_sign(kept, &sign, error));
  return td_op_mul(grad, sign, out, error);
}

FORMULA(sign) {
  TD_LOCAL(zero);
  zero = td_op_scalar(grad, 0, false);
  return td_op_mul(grad, zero, out, error);
}

/* A NaN result passes the gradient on, as in PyTorch: it is not <= 0. */
FORMULA(relu) {
  TD_LOCAL(zero);
  TD_LOCAL(off);
  zero = td_op_scalar(grad, 0, false);
  TD_TRY(td_op_le(kept, zero, &off, error));
  return td_op_where(off, zero, grad, out, error);
}

/* r = 1 / x:  dx = -dr r r */
FORMULA(reciprocal) {
  TD_LOCAL(negative);
  TD_LOCAL(square);
  TD_TRY(td_op_neg(grad, &negative, error));
  TD_TRY(td_op_mul(kept, kept, &square, error));
  return td_op_mul(negative, square, out, error);
}

FORMULA(exp) {
  return td_op_mul(grad, kept, out, error);
}

FORMULA(log) {
  return td_op_div(grad, kept, out, error);
}

/* r = sqrt x:  dx = dr / (2 r) */
FORMULA(sqrt) {
  TD_LOCAL(two);
  TD_LOCAL(twice);
  two = td_op_scalar(kept, 2, false);
  TD_TRY(td_op_mul(kept, two, &twice, error));
  return td_op_div(grad, twice, out, error);
}

FORMULA(sin) {
  TD_LOCAL(cosine);
  TD_TRY(td_op_cos(kept, &cosine, error));
  return td_op_mul(grad, cosine, out, error);
}

FORMULA(cos) {
  TD_LOCAL(sine);
  TD_LOCAL(negative);
  TD_TRY(td_op_sin(kept, &sine, error));
  TD_TRY(td_op_neg(sine, &negative, error));
  return td_op_mul(grad, negative, out, error);
}

/* r = tanh x:  dx = dr (1 - r r) */
FORMULA(tanh) {
  TD_LOCAL(square);
  TD_LOCAL(slope);
  TD_TRY(td_op_mul(kept, kept, &square, error));
  TD_TRY(td_op_rsub(square, 1, &slope, error));
  return td_op_mul(grad, slope, out, error);
}

/* r = sigmoid x:  dx = dr (1 - r) r */
FORMULA(sigmoid) {
  TD_LOCAL(rest);
  TD_LOCAL(scaled);
  TD_TRY(td_op_rsub(kept, 1, &rest, error));
  TD_TRY(td_op_mul(grad, rest, &scaled, error));
  return td_op_mul(scaled, kept, out, error);
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

#define unary_walk(walk, out, in)                                                                  \
  td_walk_init(walk, (out)->n_dims, (out)->sizes, 2, (const td_tensor *[]){out, in})

/* F(f)(x) is the float function for float: the kernels of the table differ in their types alone. */
#define F(function) _Generic(x, float : function##f, default : function)
#define TD_UNARY(name, node_name, kept, dtypes, expression)                                        \
  static void name##_kernel(td_tensor *out, const td_tensor *in) {                                 \
    td_walk walk;                                                                                  \
    unary_walk(&walk, out, in);                                                                    \
    TD_DISPATCH(out->dtype, UNARY_ROWS(T, expression))                                             \
  }
#include "engine/ops/unary.def"
#undef TD_UNARY
#undef F

typedef enum unary_kept { NOTHING, SELF, RESULT } unary_kept;
typedef enum unary_dtypes { INTEGRAL, FLOATING } unary_dtypes;

static td_status
unary_result(td_tensor *self, unary_dtypes dtypes, unary_kernel kernel, td_tensor **out,
             td_error *error) {
  td_dtype dtype = dtypes == FLOATING ? td_op_float_dtype(self->dtype) : self->dtype;
  TD_LOCAL(cast);
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_new_empty(dtype, self->device, self->n_dims, self->sizes, out, error));
  kernel(*out, cast);
  return TD_OK;
}

static td_status
unary(const td_op_class *klass, unary_kept kept, unary_dtypes dtypes, unary_kernel kernel,
      td_tensor *self, td_tensor **out, td_error *error) {
  td_tensor *result;
  TD_TRY(unary_result(self, dtypes, kernel, &result, error));
  td_op_node *op = td_op_begin(klass, sizeof *op, TD_INPUTS(self));
  if (op) {
    if (kept == SELF) td_op_save(op, 0, self);
    td_op_end(op, result);
    if (kept == RESULT) td_op_save_result(op, 0, result);
  }
  *out = result;
  return TD_OK;
}

#define TD_UNARY(name, node_name, kept, dtypes, expression)                                        \
  static td_status name##_apply(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,  \
                                td_error *error) {                                                 \
    TD_LOCAL(saved);                                                                               \
    TD_TRY(td_op_saved(op, 0, &saved, error));                                                     \
    return name##_formula(grad, saved, out, error);                                                \
  }                                                                                                \
  static const td_op_class name##_class = TD_OP_CLASS(node_name, name##_apply);                    \
  td_status td_op_##name(td_tensor *self, td_tensor **out, td_error *error) {                      \
    return unary(&name##_class, kept, dtypes, name##_kernel, self, out, error);                    \
  }
#include "engine/ops/unary.def"
#undef TD_UNARY
