/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/calc.h"

td_tensor *
td_calc_keep(td_calc *c, td_tensor *made) {
  if (!made) return NULL;
  assert(c->n < TD_CALC_MAX);
  c->made[c->n++] = made;
  return made;
}

td_status
td_calc_end(td_calc *c, td_tensor *result, td_tensor **out) {
  if (!c->status) *out = td_tensor_ref(result);
  for (int i = 0; i < c->n; i++)
    td_tensor_unref(c->made[i]);
  return c->status;
}

td_status
td_calc_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_op_class *klass = (const td_op_class *)op->node.klass;
  td_calc c = {.error = error};
  td_tensor *result = klass->calc(&c, op, grad, which);
  return td_calc_end(&c, result, out);
}

/* Runs one operation, if none has failed. */
#define STEP(call)                                                                                 \
  do {                                                                                             \
    td_tensor *made_ = NULL, **out = &made_;                                                       \
    td_error *error = c->error;                                                                    \
    if (!c->status) c->status = (call);                                                            \
    return td_calc_keep(c, made_);                                                                 \
  } while (0)

#define X(name)                                                                                    \
  td_tensor *td_calc_##name(td_calc *c, td_tensor *a) {                                            \
    STEP(td_op_##name(a, out, error));                                                             \
  }
TD_CALC_UNARY(X)
#undef X
#define X(name)                                                                                    \
  td_tensor *td_calc_##name(td_calc *c, td_tensor *a, td_tensor *b) {                              \
    STEP(td_op_##name(a, b, out, error));                                                          \
  }
TD_CALC_BINARY(X)
#undef X

td_tensor *
td_calc_add(td_calc *c, td_tensor *a, td_tensor *b, double alpha) {
  STEP(alpha == -1 ? td_op_sub(a, b, 1, out, error) : td_op_add(a, b, alpha, out, error));
}

td_tensor *
td_calc_number(td_calc *c, const td_tensor *like, double value) {
  return c->status ? NULL : td_calc_keep(c, td_op_scalar(like, value, false));
}

td_tensor *
td_calc_scale(td_calc *c, td_tensor *a, double factor) {
  td_tensor *number = td_calc_number(c, a, factor);
  return td_calc_mul(c, a, number);
}

td_tensor *
td_calc_mul_number(td_calc *c, td_tensor *a, double factor) {
  STEP(td_op_mul_number(a, factor, out, error));
}

td_tensor *
td_calc_div_number(td_calc *c, td_tensor *a, double divisor) {
  STEP(td_op_div_number(a, divisor, out, error));
}

td_tensor *
td_calc_plus(td_calc *c, td_tensor *a, double number) {
  td_tensor *operand = td_calc_number(c, a, number);
  return td_calc_add(c, a, operand, 1);
}

td_tensor *
td_calc_rsub(td_calc *c, td_tensor *a, double number) {
  STEP(td_op_rsub(a, number, out, error));
}

td_tensor *
td_calc_power(td_calc *c, td_tensor *a, double exponent) {
  STEP(td_op_pow_scalar(a, exponent, out, error));
}

td_tensor *
td_calc_where(td_calc *c, td_tensor *condition, td_tensor *yes, td_tensor *no) {
  STEP(td_op_where(condition, yes, no, out, error));
}

td_tensor *
td_calc_sum_dims(td_calc *c, td_tensor *a, int n, const int64_t *dims) {
  STEP(td_op_sum_dims(a, n, dims, true, out, error));
}

td_tensor *
td_calc_sum(td_calc *c, td_tensor *a, int64_t dim) {
  return td_calc_sum_dims(c, a, 1, &dim);
}

td_tensor *
td_calc_sum_all(td_calc *c, td_tensor *a) {
  STEP(td_op_sum(a, out, error));
}

td_tensor *
td_calc_unsqueeze(td_calc *c, td_tensor *a, int64_t dim) {
  STEP(td_op_unsqueeze(a, dim, out, error));
}

td_tensor *
td_calc_reshape(td_calc *c, td_tensor *a, const td_sizes *sizes) {
  STEP(td_op_reshape(a, sizes->n_dims, sizes->at, out, error));
}

td_tensor *
td_calc_expand(td_calc *c, td_tensor *a, const td_sizes *sizes) {
  STEP(td_op_expand(a, sizes->n_dims, sizes->at, out, error));
}

td_tensor *
td_calc_to(td_calc *c, td_tensor *a, td_dtype dtype) {
  STEP(td_op_to_dtype(a, dtype, out, error));
}

td_tensor *
td_calc_zeros(td_calc *c, const td_tensor *like) {
  STEP(td_tensor_new_like(like, out, error));
}

td_tensor *
td_calc_saved(td_calc *c, td_op_node *op, int index) {
  STEP(td_op_saved(op, index, out, error));
}

td_tensor *
td_calc_reduce_to(td_calc *c, td_tensor *grad, const td_input_metadata *like) {
  STEP(td_op_reduce_to(grad, like, out, error));
}
