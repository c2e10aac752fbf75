/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pointwise operations on two or three tensors, but for arithmetic (binary_ops.c). */
#include "engine/ops/calc.h"
#include "engine/ops/integers.h"

#include "engine/graph/semantics.h"

#include <math.h>

#define MAX_OPERANDS 3

typedef struct pointwise_node {
  td_op_node op;
  td_input_metadata operands[MAX_OPERANDS];
  double number;
} pointwise_node;

/* Makes the node of a result, which saves all operands (or none, for masks of its own). */
static void
pointwise_end(const td_op_class *klass, uint32_t n, td_tensor *const *operands, double number,
              td_tensor *result) {
  pointwise_node *node = td_op_begin(klass, sizeof *node, operands, n);
  if (!node) return;
  node->number = number;
  for (uint32_t i = 0; i < n; i++) {
    node->operands[i] = td_op_metadata(operands[i]);
    td_op_save(&node->op, (int)i, operands[i]);
  }
  td_op_end(&node->op, result);
}

#define OPERAND(which) &((pointwise_node *)op)->operands[which]
#define CALC(name)                                                                                 \
  static td_tensor *name##_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which)

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
/* A NaN of either side wins. */
PAIR_KERNEL(maximum, TD_DISPATCH, x != x || x > y ? x : y)
PAIR_KERNEL(minimum, TD_DISPATCH, x != x || x < y ? x : y)
PAIR_KERNEL(atan2, TD_DISPATCH_FLOATING, atan2((double)x, (double)y))
PAIR_KERNEL(fmod, TD_DISPATCH, DIVISION(fmod, x, y))
PAIR_KERNEL(remainder, TD_DISPATCH, DIVISION(remainder, x, y))
PAIR_KERNEL(floor_divide, TD_DISPATCH, DIVISION(floor_divide, x, y))
PAIR_KERNEL(xlogy, TD_DISPATCH_FLOATING, y != y ? y : x == 0 ? 0 : x * log((double)y))
#define NEXTAFTER(x, y) _Generic(x, float : nextafterf, default : nextafter)(x, y)
PAIR_KERNEL(nextafter, TD_DISPATCH_FLOATING, NEXTAFTER(x, y))

static td_status
pair(const td_op_class *klass, const char *name, pair_kernel kernel, bool floating, td_tensor *a,
     td_tensor *b, td_tensor **out, td_error *error) {
  td_device device;
  td_sizes a_sizes = td_op_sizes(a), b_sizes = td_op_sizes(b), sizes;
  td_dtype dtype = td_op_promote(a, b);
  TD_LOCAL(a_cast);
  TD_LOCAL(b_cast);
  TD_TRY(td_op_want_dense(a->sparse ? a : b, name, error));
  TD_TRY(td_op_want_real(td_dtype_is_complex(a->dtype) ? a : b, name, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){a, b}, &device, error));
  TD_TRY(td_op_broadcast(&a_sizes, &b_sizes, &sizes, error));
  if (floating) dtype = td_op_float_dtype(dtype);
  TD_TRY(td_kernel_cast(a, dtype, &a_cast, error));
  TD_TRY(td_kernel_cast(b, dtype, &b_cast, error));
  TD_TRY(td_tensor_new_empty(dtype, device, sizes.n_dims, sizes.at, out, error));
  td_walk walk;
  td_walk_init(&walk, sizes.n_dims, sizes.at, 3, (const td_tensor *[]){*out, a_cast, b_cast});
  kernel(&walk, dtype);
  pointwise_end(klass, 2, (td_tensor *[]){a, b}, 0, *out);
  return TD_OK;
}

/* The winner takes the gradient; equals take half each. */
static td_tensor *
extreme_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which, td_tensor *lost) {
  td_tensor *equal = td_calc_eq(c, SAVED(0), SAVED(1)), *zero = NUMBER(grad, 0);
  td_tensor *half = WHERE(equal, SCALE(grad, 0.5), grad);
  return REDUCE(WHERE(lost, zero, half), OPERAND(which));
}

CALC(maximum) {
  td_tensor *lost = td_calc_lt(c, SAVED((int)which), SAVED(1 - (int)which));
  return extreme_calc(c, op, grad, which, lost);
}

CALC(minimum) {
  td_tensor *lost = td_calc_gt(c, SAVED((int)which), SAVED(1 - (int)which));
  return extreme_calc(c, op, grad, which, lost);
}

/* atan2(x, y):  dx = y / (x^2 + y^2),  dy = -x / (x^2 + y^2) */
CALC(atan2) {
  td_tensor *x = SAVED(0), *y = SAVED(1), *square = ADD(MUL(x, x), MUL(y, y));
  td_tensor *share = DIV(grad, square);
  return REDUCE(which == 0 ? MUL(share, y) : MUL(share, NEG(x)), OPERAND(which));
}

/* fmod(x, y) = x - trunc(x / y) y */
static td_tensor *
rounded_quotient(td_calc *c, td_op_node *op,
                 td_status (*rounding)(td_tensor *, td_tensor **, td_error *)) {
  td_tensor *quotient = DIV(SAVED(0), SAVED(1)), *rounded = NULL;
  if (!c->status) c->status = rounding(quotient, &rounded, c->error);
  return td_calc_keep(c, rounded);
}

CALC(fmod) {
  if (which == 0) return REDUCE(grad, OPERAND(0));
  return REDUCE(NEG(MUL(grad, rounded_quotient(c, op, td_op_trunc))), OPERAND(1));
}

CALC(remainder) {
  if (which == 0) return REDUCE(grad, OPERAND(0));
  return REDUCE(NEG(MUL(grad, rounded_quotient(c, op, td_op_floor))), OPERAND(1));
}

/* x log y:  dx = log y, 0 where x = 0 and y <= 0;  dy = x / y */
CALC(xlogy) {
  td_tensor *x = SAVED(0), *y = SAVED(1), *zero = NUMBER(grad, 0);
  if (which == 1) return REDUCE(DIV(MUL(grad, x), y), OPERAND(1));
  td_tensor *none = MUL(td_calc_eq(c, x, zero), td_calc_le(c, y, zero));
  return REDUCE(MUL(grad, LOG(WHERE(none, NUMBER(grad, 1), y))), OPERAND(0));
}

/* PyTorch 2 takes it for self, as good as. */
CALC(nextafter) {
  if (td_policy(plain_names))
    return REDUCE(which == 0 ? grad : td_calc_zeros(c, grad), OPERAND(which));
  c->status =
      td_error_set(c->error, TD_UNSUPPORTED, "the derivative for 'nextafter' is not implemented.");
  return NULL;
}

static td_status
no_derivative(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_error_set(error, TD_AUTOGRAD, "derivative for aten::floor_divide is not implemented");
}
static const td_op_class maximum_class = TD_CALC_CLASS("MaximumBackward0", maximum_calc);
static const td_op_class minimum_class = TD_CALC_CLASS("MinimumBackward0", minimum_calc);
static const td_op_class atan2_class = TD_CALC_CLASS("Atan2Backward0", atan2_calc);
static const td_op_class fmod_class = TD_CALC_CLASS("FmodBackward1", fmod_calc);
static const td_op_class remainder_class = TD_CALC_CLASS("RemainderBackward1", remainder_calc);
static const td_op_class xlogy_class = TD_CALC_CLASS("XlogyBackward0", xlogy_calc);
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

static td_status
divide(const td_op_class *klass, const char *name, pair_kernel kernel, td_tensor *self,
       td_tensor *other, td_tensor **out, td_error *error) {
  if (!td_dtype_is_floating(td_op_promote(self, other)) && td_tensor_n_elements(self) > 0 &&
      has_zero(other))
    return td_error_set(error, TD_INVALID, "ZeroDivisionError");
  return pair(klass, name, kernel, false, self, other, out, error);
}

#define PAIR(name, floating)                                                                       \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {    \
    return pair(&name##_class, #name, name##_kernel, floating, self, other, out, error);           \
  }
PAIR(maximum, false)
PAIR(minimum, false)
PAIR(atan2, true)
PAIR(xlogy, true)
PAIR(nextafter, true)
#define DIVIDE(name)                                                                               \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {    \
    return divide(&name##_class, #name, name##_kernel, self, other, out, error);                   \
  }
DIVIDE(fmod)
DIVIDE(remainder)
DIVIDE(floor_divide)

/* A tensor's part in a computation without history. */
static td_tensor *
bare(td_calc *c, td_tensor *tensor) {
  return td_calc_keep(c, td_tensor_detach(tensor));
}

CALC(lerp) {
  double weight = ((pointwise_node *)op)->number;
  return REDUCE(SCALE(grad, which == 0 ? 1 - weight : weight), OPERAND(which));
}
static const td_op_class lerp_class = TD_CALC_CLASS("LerpBackward0", lerp_calc);

/* From whichever end is nearer, as PyTorch. */
static td_tensor *
lerp_of(td_calc *c, td_tensor *a, td_tensor *b, double weight) {
  td_tensor *way = SUB(b, a);
  return weight < 0.5 ? ADD(a, SCALE(way, weight)) : SUB(b, SCALE(way, 1 - weight));
}

td_status
td_op_lerp(td_tensor *self, td_tensor *end, double weight, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  TD_TRY(td_op_same_dtype(self, end, error));
  TD_TRY(td_calc_end(c, lerp_of(c, bare(c, self), bare(c, end), weight), out));
  pointwise_end(&lerp_class, 2, (td_tensor *[]){self, end}, weight, *out);
  return TD_OK;
}

CALC(lerp_tensor) {
  td_tensor *weight = SAVED(2);
  if (which == 2) return REDUCE(MUL(grad, SUB(SAVED(1), SAVED(0))), OPERAND(2));
  return REDUCE(MUL(grad, which == 0 ? RSUB(1, weight) : weight), OPERAND(which));
}
static const td_op_class lerp_tensor_class = TD_CALC_CLASS("LerpBackward1", lerp_tensor_calc);

td_status
td_op_lerp_tensor(td_tensor *self, td_tensor *end, td_tensor *weight, td_tensor **out,
                  td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *a = bare(c, self), *b = bare(c, end), *w = bare(c, weight);
  td_tensor *half = NUMBER(w, 0.5);
  td_tensor *way = SUB(b, a), *near = ADD(a, MUL(way, w)), *far = SUB(b, MUL(way, RSUB(1, w)));
  TD_TRY(td_calc_end(c, WHERE(td_calc_lt(c, w, half), near, far), out));
  pointwise_end(&lerp_tensor_class, 3, (td_tensor *[]){self, end, weight}, 0, *out);
  return TD_OK;
}

CALC(addcmul) {
  double value = ((pointwise_node *)op)->number;
  if (which == 0) return REDUCE(grad, OPERAND(0));
  return REDUCE(MUL(grad, SCALE(SAVED(3 - (int)which), value)), OPERAND(which));
}
static const td_op_class addcmul_class = TD_CALC_CLASS("AddcmulBackward0", addcmul_calc);

td_status
td_op_addcmul(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
              td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *product = MUL(bare(c, a), bare(c, b));
  TD_TRY(td_calc_end(c, td_calc_add(c, bare(c, self), product, value), out));
  pointwise_end(&addcmul_class, 3, (td_tensor *[]){self, a, b}, value, *out);
  return TD_OK;
}

CALC(addcdiv) {
  double value = ((pointwise_node *)op)->number;
  if (which == 0) return REDUCE(grad, OPERAND(0));
  td_tensor *a = SAVED(1), *b = SAVED(2);
  if (which == 1) return REDUCE(MUL(grad, DIV(NUMBER(b, value), b)), OPERAND(1));
  return REDUCE(MUL(NEG(grad), DIV(SCALE(a, value), MUL(b, b))), OPERAND(2));
}
static const td_op_class addcdiv_class = TD_CALC_CLASS("AddcdivBackward0", addcdiv_calc);

td_status
td_op_addcdiv(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
              td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *quotient = DIV(bare(c, a), bare(c, b));
  TD_TRY(td_calc_end(c, td_calc_add(c, bare(c, self), quotient, value), out));
  pointwise_end(&addcdiv_class, 3, (td_tensor *[]){self, a, b}, value, *out);
  return TD_OK;
}

/* What was filled has no gradient; the filling has the sum of what came there. */
CALC(masked_fill) {
  td_tensor *mask = SAVED(0), *zero = NUMBER(grad, 0);
  if (which == 0) return REDUCE(WHERE(mask, zero, grad), OPERAND(0));
  return REDUCE(td_calc_sum_all(c, WHERE(mask, grad, zero)), OPERAND(1));
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
  td_tensor *cast = td_calc_to(c, bare(c, value), self->dtype);
  TD_TRY(td_calc_end(c, WHERE(mask, cast, bare(c, self)), out));
  td_tensor *inputs[] = {self, value};
  pointwise_node *node = td_op_begin(klass, sizeof *node, inputs, n_inputs);
  if (!node) return TD_OK;
  node->operands[0] = td_op_metadata(self);
  node->operands[1] = td_op_metadata(value);
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
  return masked_fill(&fill_tensor_class, self, mask, value, 2, out, error);
}
