/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elementwise functions of one tensor: unary.def is expanded into a kernel, a formula, a class and
 * an operation per row. */
#include "engine/ops/calc.h"

#include <math.h>

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

/* F(f)(x) is the float function for float. FLOATING rows have no kernel for integers. */
#define F(function) _Generic(x, float : function##f, default : function)
#define FLOATING_ONLY(T, expression) TD_DISPATCH_FLOATING(out->dtype, UNARY_ROWS(T, expression))
#define EVERY_REAL(T, expression) TD_DISPATCH(out->dtype, UNARY_ROWS(T, expression))
#define KERNEL_FLOATING FLOATING_ONLY
#define KERNEL_INTEGRAL EVERY_REAL
#define TD_UNARY(name, node_name, kept, dtypes, expression, gradient)                              \
  static void name##_kernel(td_tensor *out, const td_tensor *in) {                                 \
    td_walk walk;                                                                                  \
    unary_walk(&walk, #name ".out", out, in);                                                      \
    KERNEL_##dtypes(T, expression)                                                                 \
  }
#include "engine/ops/unary.def"
#undef TD_UNARY
#undef F

typedef enum unary_kept { NOTHING, SELF, RESULT } unary_kept;
typedef enum unary_dtypes { INTEGRAL, FLOATING } unary_dtypes;

typedef struct unary_row {
  const char *name;
  unary_kept kept;
  unary_dtypes dtypes;
  unary_kernel kernel;
} unary_row;

/* Negation is the one function that takes sparse and complex numbers: -1 times them. */
static td_status
negated(td_tensor *self, td_tensor **out, td_error *error) {
  TD_LOCAL(plain);
  TD_LOCAL(minus);
  plain = td_tensor_detach(self);
  minus = td_op_scalar(self, -1, true);
  return td_op_mul(plain, minus, out, error);
}

static td_status
unary_result(td_tensor *self, const unary_row *row, td_tensor **out, td_error *error) {
  if (row->kept == NOTHING && strcmp(row->name, "neg") == 0 &&
      (self->sparse || td_dtype_is_complex(self->dtype)))
    return negated(self, out, error);
  TD_TRY(td_op_want_dense(self, row->name, error));
  TD_TRY(td_op_want_real(self, row->name, error));
  td_dtype dtype = row->dtypes == FLOATING ? td_op_float_dtype(self->dtype) : self->dtype;
  TD_LOCAL(cast);
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_new_empty(dtype, self->device, self->n_dims, self->sizes, out, error));
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
    if (row->kept == SELF) td_op_save(op, 0, self);
    td_op_end(op, result);
    if (row->kept == RESULT) td_op_save_result(op, 0, result);
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
#include "engine/ops/unary.def"
#undef TD_UNARY
