/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/calc.h"

#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/special.h"

td_tensor *
td_calc_keep(td_calc *c, td_tensor *made) {
  if (!made) return NULL;
  assert(c->n < TD_CALC_MAX);
  c->made[c->n++] = made;
  return made;
}

td_tensor *
td_calc_bare(td_calc *c, td_tensor *tensor) {
  return td_calc_keep(c, td_tensor_detach(tensor));
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

static td_tensor *
run_kernel(td_calc *c, td_calc_kernel kernel, td_tensor *const *operands, uint32_t n,
           const double numbers[2]) {
  td_calc inner = {.error = c->error};
  td_tensor *bare[TD_OP_MAX_SAVED], *made = NULL;
  for (uint32_t i = 0; i < n; i++)
    bare[i] = operands[i] ? td_calc_bare(&inner, operands[i]) : NULL;
  td_tensor *result = kernel(&inner, bare, numbers);
  c->status = td_calc_end(&inner, result, &made);
  return td_calc_keep(c, made);
}

td_tensor *
td_calc_as_one(td_calc *c, const td_op_class *klass, td_calc_kernel kernel,
               td_tensor *const *operands, uint32_t n, const double numbers[2]) {
  if (c->status) return NULL;
  td_tensor *made = run_kernel(c, kernel, operands, n, numbers);
  td_kernel_node *node = made ? td_op_begin(klass, sizeof *node, operands, n) : NULL;
  if (!node) return made;
  memcpy(node->numbers, numbers, sizeof node->numbers);
  for (uint32_t i = 0; i < n; i++)
    td_op_save(&node->op, (int)i, operands[i]);
  td_op_end(&node->op, made);
  return made;
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
  STEP(td_op_mul_number(a, factor, out, error));
}

td_tensor *
td_calc_div_number(td_calc *c, td_tensor *a, double divisor) {
  STEP(td_op_div_number(a, divisor, out, error));
}

td_tensor *
td_calc_plus(td_calc *c, td_tensor *a, double number) {
  STEP(td_op_add_number(a, number < 0 ? -number : number, number < 0, out, error));
}

td_tensor *
td_calc_rsub(td_calc *c, td_tensor *a, double number) {
  td_tensor *minuend = td_calc_number(c, a, number);
  return td_calc_add(c, minuend, a, -1);
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
td_calc_wide(td_calc *c, td_tensor *tensor) {
  td_tensor *bare = td_calc_bare(c, tensor);
  return td_dtype_is_half(tensor->dtype) ? td_calc_to(c, bare, TD_FLOAT32) : bare;
}
