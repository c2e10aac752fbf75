/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of two tensors but for arithmetic.c: binary.def is expanded into a kernel, a formula, a
 * class and an operation per row. masked_fill is here too. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/integers.h"

#include "engine/torch/graph/semantics.h"

#include <math.h>

/* The rest has the sign of x in fmod, and the sign of y in remainder. x // y is (x - rest) / y, to
 * the nearest whole number. A quotient of 0 has the sign of x / y. */
#define FLOATING_DIVISIONS(T, name)                                                                \
  static T fmod_##name(T x, T y) {                                                                 \
    return (T)fmod((double)x, (double)y);                                                          \
  }                                                                                                \
  static T remainder_##name(T x, T y) {                                                            \
    T rest = fmod_##name(x, y);                                                                    \
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;                                   \
  }                                                                                                \
  static T floor_divide_##name(T x, T y) {                                                         \
    if (y == 0) return x / y;                                                                      \
    T rest = fmod_##name(x, y), quotient = (x - rest) / y;                                         \
    if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;                                         \
    if (quotient == 0) return (T)copysign(0, (double)(x / y));                                     \
    T whole = (T)floor((double)quotient);                                                          \
    return quotient - whole > (T)0.5 ? whole + 1 : whole;                                          \
  }
FLOATING_DIVISIONS(float, float)
FLOATING_DIVISIONS(double, double)
#define DIVISION(name, x, y)                                                                       \
  _Generic(x, float : name##_float, double : name##_double, default : td_integer_##name)(x, y)

typedef void (*pair_kernel)(td_walk *walk, td_dtype dtype);

#define PAIR_KERNEL(name, dispatch, expression)                                                    \
  static void name##_kernel(td_walk *walk, td_dtype dtype) {                                       \
    dispatch(                                                                                      \
        dtype, while (td_walk_row(walk)) {                                                         \
          T *to = walk->at[0];                                                                     \
          const T *px = walk->at[1], *py = walk->at[2];                                            \
          for (int64_t i = 0; i < walk->n; i++) {                                                  \
            const T x = px[i * walk->step[1]], y = py[i * walk->step[2]];                          \
            to[i * walk->step[0]] = (T)(expression);                                               \
          }                                                                                        \
        })                                                                                         \
  }
#define KERNEL_FLOATING TD_DISPATCH_FLOATING
#define KERNEL_INTEGRAL TD_DISPATCH
#define TD_BINARY(name, node_name, other, dtypes, expression, ...)                                 \
  PAIR_KERNEL(name, KERNEL_##dtypes, expression)
#include "engine/torch/ops/pointwise/binary.def"
#undef TD_BINARY
PAIR_KERNEL(floor_divide, TD_DISPATCH, DIVISION(floor_divide, x, y))
#define NEXTAFTER(x, y) _Generic(x, float : nextafterf, default : nextafter)(x, y)

/* The next half of x towards y. Below 2^-14, those of float16 have one distance. */
static float
half_after(td_dtype dtype, float x, float y) {
  uint32_t bits, step = dtype == TD_FLOAT16 ? 1u << 13 : 1u << 16;
  float least = dtype == TD_FLOAT16 ? 0x1p-24f : 0x1p-133f, size = fabsf(x);
  bool away = (x < y) == (x > 0);
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return copysignf(least, y);
  if (dtype == TD_FLOAT16 && (size < 0x1p-14f || (size == 0x1p-14f && !away)))
    return x + copysignf(least, y - x);
  memcpy(&bits, &x, sizeof bits);
  bits = away ? bits + step : bits - step;
  memcpy(&x, &bits, sizeof x);
  return x;
}
PAIR_KERNEL(nextafter, TD_DISPATCH_FLOATING,
            td_dtype_is_half(dtype) ? half_after(dtype, (float)x, (float)y) : NEXTAFTER(x, y))

static td_status
pair(const td_op_class *klass, const char *name, pair_kernel kernel, bool floating, td_tensor *a,
     td_tensor *b, td_tensor **out, td_error *error) {
  td_device device;
  td_sizes a_sizes = td_op_sizes(a), b_sizes = td_op_sizes(b), sizes;
  td_dtype dtype = td_op_promote(a, b);
  TD_LOCAL(a_cast);
  TD_LOCAL(b_cast);
  TD_TRY(td_op_want_dense(a->sparse ? a : b, name, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){a, b}, &device, error));
  TD_TRY(td_op_broadcast(&a_sizes, &b_sizes, &sizes, error));
  TD_TRY(td_op_check_dtype(name, dtype, error)); /* so no dtype is complex */
  if (floating) dtype = td_op_float_dtype(dtype);
  TD_TRY(td_kernel_cast(a, dtype, &a_cast, error));
  TD_TRY(td_kernel_cast(b, dtype, &b_cast, error));
  TD_TRY(td_tensor_laid_out(dtype, device, sizes.n_dims, sizes.at, 2, (const td_tensor *[]){a, b},
                            out, error));
  td_walk walk;
  td_walk_init(&walk, sizes.n_dims, sizes.at, 3, (const td_tensor *[]){*out, a_cast, b_cast});
  kernel(&walk, dtype);
  td_op_end_with(klass, 2, (td_tensor *[]){a, b}, 0, *out);
  return TD_OK;
}

/* The winner takes the gradient; equals take half each. */
static td_tensor *
winner(td_calc *c, td_tensor *grad, td_tensor *a, td_tensor *b, td_tensor *lost) {
  td_tensor *half = WHERE(td_calc_eq(c, a, b), DIV(grad, NUMBER(grad, 2)), grad), *won = NULL;
  if (!c->status) c->status = td_op_masked_fill(half, lost, 0, &won, c->error);
  return td_calc_keep(c, won);
}

/* An operand is unpacked once, if the formula has it. */
static td_tensor *
operand(td_calc *c, td_op_node *op, td_tensor **unpacked, int which) {
  if (!unpacked[which]) unpacked[which] = SAVED(which);
  return unpacked[which];
}

#define A operand(c, op, operands, 0)
#define B operand(c, op, operands, 1)
#define WINNER(lost) winner(c, g, A, B, lost)
#define NONE_BELOW(a, b)                                                                           \
  MUL(td_calc_eq(c, a, NUMBER(g, 0)), td_calc_le(c, b, NUMBER(g, 0))) /* a = 0 and b <= 0 */
#define TD_BINARY(name, node_name, other, dtypes, expression, of_self, of_other)                   \
  CALC(name) {                                                                                     \
    td_tensor *operands[2] = {NULL}, *g = grad;                                                    \
    (void)operands;                                                                                \
    return which == 0 ? of_self : of_other;                                                        \
  }                                                                                                \
  static const td_op_class name##_class = TD_CALC_CLASS(node_name, name##_calc);
#include "engine/torch/ops/pointwise/binary.def"
#undef TD_BINARY
#undef A
#undef B

/* PyTorch 2 takes it for self, as good as. */
CALC(nextafter) {
  if (td_policy(plain_names)) return which == 0 ? grad : td_calc_zeros(c, grad);
  c->status =
      td_error_set(c->error, TD_UNSUPPORTED, "the derivative for 'nextafter' is not implemented.");
  return NULL;
}

static td_status
no_derivative(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_error_set(error, TD_AUTOGRAD, "derivative for aten::floor_divide is not implemented");
}
static const td_op_class nextafter_class = TD_CALC_CLASS("NextafterBackward0", nextafter_calc);
static const td_op_class floor_divide_class = TD_OP_CLASS("NotImplemented", no_derivative);

static bool
has_zero(const td_tensor *tensor) {
  bool found = false;
  td_walk walk;
  td_walk_init_reading(&walk, tensor->n_dims, tensor->sizes, 1, (const td_tensor *[]){tensor});
  TD_DISPATCH(
      tensor->dtype, while (td_walk_row(&walk)) {
        const T *x = walk.at[0];
        for (int64_t i = 0; i < walk.n; i++)
          found |= x[i * walk.step[0]] == 0;
      })
  return found;
}

/* Divisions of integers, which refuse 0. */
static td_status
check_divisor(const char *name, td_tensor *self, td_tensor *other, td_error *error) {
  static const char *const divisions[] = {"fmod", "remainder", "floor_divide"};
  bool divides = false;
  for (size_t i = 0; i < TD_N_ELEMENTS(divisions); i++)
    divides = divides || strcmp(divisions[i], name) == 0;
  td_dtype dtype = td_op_promote(self, other);
  if (!divides || td_dtype_is_floating(dtype) || td_tensor_n_elements(self) == 0) return TD_OK;
  TD_TRY(td_op_check_dtype(name, dtype, error));
  return has_zero(other) ? td_error_set(error, TD_INVALID, "ZeroDivisionError") : TD_OK;
}

#define FLOATING true
#define INTEGRAL false
#define PAIR(name, floating)                                                                       \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {    \
    TD_TRY(check_divisor(#name, self, other, error));                                              \
    return pair(&name##_class, #name, name##_kernel, floating, self, other, out, error);           \
  }
#define TD_BINARY(name, node_name, other, dtypes, ...) PAIR(name, dtypes)
#include "engine/torch/ops/pointwise/binary.def"
#undef TD_BINARY
PAIR(nextafter, FLOATING)
PAIR(floor_divide, INTEGRAL)

/* What was filled has no gradient; the filling has the sum of what came there. */
CALC(masked_fill) {
  td_tensor *mask = SAVED(0), *kept = NULL;
  if (which == 1) return td_calc_sum_all(c, WHERE(mask, grad, NUMBER(grad, 0)));
  if (!c->status) c->status = td_op_masked_fill(grad, mask, 0, &kept, c->error);
  return td_calc_keep(c, kept);
}
static const td_op_class fill_class = TD_CALC_CLASS("MaskedFillBackward0", masked_fill_calc);
static const td_op_class fill_tensor_class = TD_CALC_CLASS("MaskedFillBackward1", masked_fill_calc);

static td_status
masked_fill(const td_op_class *klass, td_tensor *self, td_tensor *mask, td_tensor *value,
            uint32_t n_inputs, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  if (mask->dtype != TD_BOOL)
    return td_error_set(error, TD_DTYPE,
                        "masked_fill only supports boolean masks, but got mask "
                        "with dtype %s",
                        td_dtype_name(mask->dtype));
  if (value->n_dims > 0)
    return td_error_set(error, TD_SHAPE,
                        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
                        "with %d dimension(s).",
                        value->n_dims);
  td_tensor *cast = td_calc_to(c, td_calc_bare(c, value), self->dtype);
  TD_TRY(td_calc_end(c, WHERE(mask, cast, td_calc_bare(c, self)), out));
  td_tensor *inputs[] = {self, value};
  td_number_node *node = td_op_begin(klass, sizeof *node, inputs, n_inputs);
  if (!node) return TD_OK;
  td_op_save(&node->op, 0, mask);
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_masked_fill(td_tensor *self, td_tensor *mask, double value, td_tensor **out,
                  td_error *error) {
  TD_LOCAL(number);
  number = td_tensor_new_scalar(self->dtype, TD_CPU, value);
  return masked_fill(&fill_class, self, mask, number, 1, out, error);
}

td_status
td_op_masked_fill_tensor(td_tensor *self, td_tensor *mask, td_tensor *value, td_tensor **out,
                         td_error *error) {
  if (value->is_number)
    TD_TRY(td_op_check_real(self->dtype, td_tensor_get_complex(value, 0), error));
  return masked_fill(&fill_tensor_class, self, mask, value, 2, out, error);
}
