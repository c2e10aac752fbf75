/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sums, differences, products, quotients and powers of two tensors. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/integers.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/fused.h"

#include "engine/torch/graph/semantics.h"
#include "engine/torch/tensor/zero_tensor.h"

#include <math.h>

typedef enum binary_function { BINARY_ADD, BINARY_MUL, BINARY_DIV, BINARY_POW } binary_function;

/* A formula's result has the sizes of its gradient. The engine sums it to those of an operand that
 * was broadcast, and casts it. */
typedef struct binary_node {
  td_op_node op;
  double alpha;
} binary_node;

/* One row with the three cases that matter: all dense, the second operand one number, anything. */
#define ROW(T, o_step, x_step, y_step, expression)                                                 \
  for (int64_t i = 0; i < n; i++) {                                                                \
    const T x = px[i * (x_step)], y = py[i * (y_step)];                                            \
    po[i * (o_step)] = (T)(expression);                                                            \
  }
#define ROWS(T, expression)                                                                        \
  while (td_walk_row(&walk)) {                                                                     \
    const int64_t n = walk.n;                                                                      \
    T *po = walk.at[0];                                                                            \
    const T *px = walk.at[1], *py = walk.at[2];                                                    \
    if (walk.dense)                                                                                \
      ROW(T, 1, 1, 1, expression)                                                                  \
    else if (walk.step[0] == 1 && walk.step[1] == 1 && walk.step[2] == 0)                          \
      ROW(T, 1, 1, 0, expression)                                                                  \
    else                                                                                           \
      ROW(T, walk.step[0], walk.step[1], walk.step[2], expression)                                 \
  }

/* As error texts call them. */
static const char *const names[] = {[BINARY_ADD] = "add.out",
                                    [BINARY_MUL] = "mul.out",
                                    [BINARY_DIV] = "div.out",
                                    [BINARY_POW] = "pow"};

/* out, a and b have one dtype; integers never reach DIV. */
static void
binary_kernel(binary_function function, td_tensor *out, const td_tensor *a, const td_tensor *b,
              double alpha) {
  td_walk walk;
  alpha = td_dtype_round(out->dtype, alpha);
  td_walk_init_with(&walk, names[function], alpha, 1, out->n_dims, out->sizes, 3,
                    (const td_tensor *[]){out, a, b});
  switch (function) {
  case BINARY_ADD:
    if (alpha == 1)
      TD_DISPATCH_ALL(out->dtype, ROWS(T, x + y))
    else if (td_fused_can(out->dtype))
      td_fused_rows(TD_FUSED_ADD, out->dtype, &walk, alpha);
    else
      TD_DISPATCH_ALL(out->dtype, const T scale = (T)alpha; ROWS(T, x + scale * y))
    break;
  case BINARY_MUL:
    TD_DISPATCH_ALL(out->dtype, ROWS(T, x * y))
    break;
  case BINARY_DIV:
    TD_DISPATCH_ALL(out->dtype, ROWS(T, x / y))
    break;
  case BINARY_POW:
    TD_DISPATCH_ALL(out->dtype, ROWS(T, TD_POWER(x, y)))
    break;
  }
}

/* A sum of tensors of which one or both are sparse. */
static td_status
sparse_sum(td_tensor *a, td_tensor *b, double alpha, td_tensor **out, td_error *error) {
  if (!td_tensor_same_sizes(a, b))
    return td_error_set(error, TD_SHAPE,
                        "add: expected sizes of 'self' and 'other' to match, but they differ");
  if (!b->sparse)
    return td_error_set(error, TD_INVALID,
                        "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  if (a->sparse) {
    TD_TRY(td_op_same_dtype(a, b, error));
    return td_sparse_add(a, b, alpha, out, error);
  }
  TD_TRY(td_tensor_new_empty(td_op_promote(a, b), a->device, a->n_dims, a->sizes, out, error));
  td_kernel_copy(*out, a);
  td_sparse_add_into_dense(*out, b, alpha);
  return TD_OK;
}

/* A sparse tensor times one number: the same indices, other values. */
static td_status
sparse_product(td_tensor *sparse, td_tensor *factor, td_tensor **out, td_error *error) {
  TD_LOCAL(plain);
  TD_LOCAL(values);
  if (factor->n_dims > 0) return td_op_want_dense(sparse, "mul.out", error);
  plain = td_tensor_detach(factor);
  TD_TRY(td_op_mul(sparse->sparse->values, plain, &values, error));
  *out = td_sparse_with_values(sparse, values);
  return TD_OK;
}

/* What PyTorch does not compute, because an operand is a zero tensor: not even 0 times infinity. */
static bool
gives_zero_tensor(binary_function function, const td_tensor *a, const td_tensor *b) {
  bool a_is_zero = td_tensor_is_zero_tensor(a), b_is_zero = td_tensor_is_zero_tensor(b);
  switch (function) {
  case BINARY_ADD:
    return a_is_zero && b_is_zero;
  case BINARY_MUL:
    return a_is_zero || b_is_zero;
  case BINARY_DIV:
    return a_is_zero;
  case BINARY_POW:
    break;
  }
  return false;
}

static td_status
become_zero_tensor(td_tensor **result, td_error *error) {
  TD_LOCAL(computed);
  computed = *result;
  return td_zero_tensor_new_like(computed, result, error);
}

static td_status
binary_result(binary_function function, td_tensor *a, td_tensor *b, double alpha, td_tensor **out,
              td_error *error) {
  if ((a->sparse || b->sparse) && function == BINARY_ADD)
    return sparse_sum(a, b, alpha, out, error);
  if (a->sparse && function == BINARY_MUL) return sparse_product(a, b, out, error);
  if (b->sparse && function == BINARY_MUL) return sparse_product(b, a, out, error);
  td_device device;
  td_sizes a_sizes = td_op_sizes(a), b_sizes = td_op_sizes(b), sizes;
  TD_TRY(td_op_common_device(2, (td_tensor *[]){a, b}, &device, error));
  TD_TRY(td_op_broadcast(&a_sizes, &b_sizes, &sizes, error));
  td_dtype dtype = td_op_promote(a, b);
  if (function == BINARY_DIV) dtype = td_op_float_dtype(dtype);
  TD_TRY(td_op_want_dense(a, names[function], error));
  TD_TRY(td_op_want_dense(b, names[function], error));
  if (function == BINARY_POW) TD_TRY(td_op_check_dtype("pow", dtype, error));
  if (alpha != floor(alpha) && !td_dtype_is_differentiable(dtype))
    return td_error_set(error, TD_DTYPE,
                        "For integral input tensors, argument alpha must not be a floating point "
                        "number.");
  TD_LOCAL(a_cast);
  TD_LOCAL(b_cast);
  bool keeps_digits = function == BINARY_MUL || function == BINARY_DIV;
  TD_TRY(td_kernel_cast(a, dtype, &a_cast, error));
  TD_TRY((keeps_digits ? td_op_cast_factor : td_kernel_cast)(b, dtype, &b_cast, error));
  TD_TRY(td_tensor_laid_out(dtype, device, sizes.n_dims, sizes.at, 2, (const td_tensor *[]){a, b},
                            out, error));
  binary_kernel(function, *out, a_cast, b_cast, alpha);
  return gives_zero_tensor(function, a, b) ? become_zero_tensor(out, error) : TD_OK;
}

/* c = a + alpha b:  da = dc,  db = alpha dc */
static td_status
add_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  binary_node *node = (binary_node *)op;
  if (which == 0 || node->alpha == 1) {
    *out = td_tensor_ref(grad);
    return TD_OK;
  }
  if (node->alpha == -1) return td_op_neg(grad, out, error);
  return td_op_mul_number(grad, node->alpha, out, error);
}

static const td_op_class add_class = TD_OP_CLASS_SPARSE("AddBackward0", add_formula);
static const td_op_class sub_class = TD_OP_CLASS_SPARSE("SubBackward0", add_formula);

static td_status
add_or_sub(const td_op_class *klass, td_tensor *self, td_tensor *other, double alpha,
           td_tensor **out, td_error *error) {
  td_tensor *result;
  TD_TRY(binary_result(BINARY_ADD, self, other, alpha, &result, error));
  binary_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self, other));
  if (node) {
    node->alpha = alpha;
    td_op_end(&node->op, result);
  }
  *out = result;
  return TD_OK;
}

td_status
td_op_add(td_tensor *self, td_tensor *other, double alpha, td_tensor **out, td_error *error) {
  return add_or_sub(&add_class, self, other, alpha, out, error);
}

td_status
td_op_sub(td_tensor *self, td_tensor *other, double alpha, td_tensor **out, td_error *error) {
  TD_TRY(td_op_check_sub(self->dtype, other->dtype, error));
  return add_or_sub(&sub_class, self, other, -alpha, out, error);
}

/* c = a b:  da = dc conj(b),  db = dc conj(a) */
static td_status
mul_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(factor);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &factor, error));
  TD_LOCAL(conjugate);
  TD_TRY(td_op_conj(factor, &conjugate, error));
  return td_op_mul(grad, conjugate, out, error);
}
static const td_op_class mul_class = TD_OP_CLASS_LAST_FIRST("MulBackward0", mul_formula);

td_status
td_op_mul(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  td_tensor *result;
  TD_TRY(binary_result(BINARY_MUL, self, other, 1, &result, error));
  binary_node *node = td_op_begin(&mul_class, sizeof *node, TD_INPUTS(self, other));
  if (node) {
    td_op_save(&node->op, 0, td_op_has_edge(&node->op, 1) ? self : NULL);
    td_op_save(&node->op, 1, td_op_has_edge(&node->op, 0) ? other : NULL);
    td_op_end(&node->op, result);
  }
  *out = result;
  return TD_OK;
}

/* c = a / b:  da = dc / conj(b),  db = -dc conj((a / b) / b) */
static td_status
div_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(self);
  TD_LOCAL(other);
  TD_TRY(td_op_saved(op, 1, &other, error));
  if (which == 0) {
    TD_LOCAL(divisor);
    TD_TRY(td_op_conj(other, &divisor, error));
    return td_op_div(grad, divisor, out, error);
  }
  TD_LOCAL(negative);
  TD_LOCAL(quotient);
  TD_LOCAL(again);
  TD_LOCAL(slope);
  TD_TRY(td_op_saved(op, 0, &self, error));
  TD_TRY(td_op_div(self, other, &quotient, error));
  TD_TRY(td_op_div(quotient, other, &again, error));
  TD_TRY(td_op_conj(again, &slope, error));
  TD_TRY(td_op_neg(grad, &negative, error));
  return td_op_mul(negative, slope, out, error);
}
static const td_op_class div_class = TD_OP_CLASS_LAST_FIRST("DivBackward0", div_formula);

td_status
td_op_div(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  td_tensor *result;
  TD_TRY(binary_result(BINARY_DIV, self, other, 1, &result, error));
  binary_node *node = td_op_begin(&div_class, sizeof *node, TD_INPUTS(self, other));
  if (node) {
    td_op_save(&node->op, 0, td_op_has_edge(&node->op, 1) ? self : NULL);
    td_op_save(&node->op, 1, other);
    td_op_end(&node->op, result);
  }
  *out = result;
  return TD_OK;
}

/* d(a ^ b)/db = a ^ b log a, but 0 where a is 0 and the real part of b is not negative */
static td_status
pow_log_term(td_op_node *op, td_tensor *base, td_tensor *exponent, td_tensor **out,
             td_error *error) {
  TD_LOCAL(power);
  TD_LOCAL(log);
  TD_LOCAL(term);
  TD_LOCAL(zero);
  TD_LOCAL(base_zero);
  TD_LOCAL(exponent_ok);
  TD_LOCAL(masked);
  TD_LOCAL(wide);
  TD_LOCAL(size);
  TD_LOCAL(none);
  zero = td_op_scalar(base, 0, true);
  TD_TRY(td_op_saved(op, 2, &power, error));
  bool is_complex = td_dtype_is_complex(power->dtype);
  TD_TRY(td_op_to_dtype(base, is_complex ? power->dtype : base->dtype, &wide, error));
  TD_TRY(td_op_log(wide, &log, error));
  TD_TRY(td_op_mul(power, log, &term, error));
  TD_TRY(td_op_eq(base, zero, &base_zero, error));
  TD_TRY(td_op_real(exponent, &size, error));
  none = td_op_scalar(size, 0, true);
  TD_TRY(td_op_ge(size, none, &exponent_ok, error));
  TD_TRY(td_op_mul(base_zero, exponent_ok, &masked, error));
  return td_op_where(masked, zero, term, out, error);
}

/* d(a ^ b)/da = b a ^ (b - 1), but 0 where b is 0 */
static td_status
pow_base_term(td_tensor *base, td_tensor *exponent, td_tensor **out, td_error *error) {
  TD_LOCAL(zero);
  TD_LOCAL(one);
  TD_LOCAL(less);
  TD_LOCAL(power);
  TD_LOCAL(term);
  TD_LOCAL(constant);
  zero = td_op_scalar(exponent, 0, true);
  one = td_op_scalar(exponent, 1, true);
  TD_TRY(td_op_sub(exponent, one, 1, &less, error));
  TD_TRY(td_op_pow(base, less, &power, error));
  TD_TRY(td_op_mul(exponent, power, &term, error));
  TD_TRY(td_op_eq(exponent, zero, &constant, error));
  return td_op_where(constant, zero, term, out, error);
}

static td_status
pow_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(base);
  TD_LOCAL(exponent);
  TD_LOCAL(term);
  TD_LOCAL(slope);
  TD_TRY(td_op_saved(op, 0, &base, error));
  TD_TRY(td_op_saved(op, 1, &exponent, error));
  if (which == 0)
    TD_TRY(pow_base_term(base, exponent, &term, error));
  else
    TD_TRY(pow_log_term(op, base, exponent, &term, error));
  TD_TRY(td_op_conj(term, &slope, error));
  return td_op_mul(grad, slope, out, error);
}
static const td_op_class pow_class = TD_OP_CLASS_LAST_FIRST("PowBackward1", pow_formula);

td_status
td_op_pow(td_tensor *self, td_tensor *exponent, td_tensor **out, td_error *error) {
  td_tensor *result;
  TD_TRY(binary_result(BINARY_POW, self, exponent, 1, &result, error));
  binary_node *node = td_op_begin(&pow_class, sizeof *node, TD_INPUTS(self, exponent));
  if (node) {
    td_op_save(&node->op, 0, self);
    td_op_save(&node->op, 1, exponent);
    td_op_end(&node->op, result);
    td_op_save_result(&node->op, 2, result);
  }
  *out = result;
  return TD_OK;
}

typedef struct base_node {
  td_op_node op;
  td_complex128 base;
} base_node;

/* r = b ^ x of a number b:  dx = dr conj(r log b) */
static td_tensor *
power_of_number_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_complex128 base = ((base_node *)op)->base;
  td_tensor *result = SAVED(1), *slope, *zero = NUMBER(grad, 0);
  if (c->status) return NULL;
  if (td_dtype_is_complex(result->dtype))
    slope = MUL(result, td_calc_keep(c, td_op_complex_scalar(result, clog(base))));
  else
    slope = SCALE(result, log(creal(base)));
  if (base == 0) {
    td_tensor *exponent = td_calc_real(c, SAVED(0));
    slope = WHERE(td_calc_ge(c, exponent, NUMBER(exponent, 0)), zero, slope);
  }
  return MUL(grad, CONJ(slope));
}
static const td_op_class power_of_number_class =
    TD_CALC_CLASS("PowBackward2", power_of_number_calc);

td_status
td_op_number_pow(td_tensor *base, td_tensor *exponent, td_tensor **out, td_error *error) {
  if (!td_policy(plain_names)) return td_op_pow(base, exponent, out, error);
  TD_TRY(binary_result(BINARY_POW, base, exponent, 1, out, error));
  base_node *node = td_op_begin(&power_of_number_class, sizeof *node, TD_INPUTS(exponent));
  if (!node) return TD_OK;
  node->base = td_tensor_get_complex(base, 0);
  td_op_save(&node->op, 0, exponent);
  td_op_end(&node->op, *out);
  td_op_save_result(&node->op, 1, *out);
  return TD_OK;
}
