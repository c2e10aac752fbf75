/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Each row of activation.def becomes three kernels (the function, its gradient, the gradient's
 * derivative) and two classes of nodes: a backward pass under create_graph hangs a node of its own
 * above the gradient, which knows how to go back once more. */
#include "engine/ops/calc.h"
#include "engine/ops/pointwise.h"

#include <math.h>

typedef enum kept_tensor { SELF, RESULT } kept_tensor;

typedef struct activation {
  const td_op_class *klass, *back_class;
  const char *name;
  kept_tensor kept;
  void (*forward)(td_tensor *out, const td_tensor *in, const double *numbers);
  void (*gradient)(td_tensor *out, const td_tensor *grad, const td_tensor *kept,
                   const double *numbers);
  void (*slope)(td_tensor *out, const td_tensor *grad, const td_tensor *kept,
                const double *numbers);
} activation;

typedef struct activation_node {
  td_op_node op;
  const activation *row;
  double numbers[3];
} activation_node;

/* What the formulas of the table are made of. */
#define F(function) _Generic(x, float : function##f, default : function)
#define CDF(x) ((1 + F(erf)((x) * (T)M_SQRT1_2)) / 2)
#define PDF(x) (F(exp)(-(x) * (x) / 2) * (T)(M_2_SQRTPI * M_SQRT1_2 / 2))
#define S(x) (1 / (1 + F(exp)(-(x))))
#define SOFT(x) F(log1p)(F(exp)(x))
#define SECH2(u) (1 - F(tanh)(u) * F(tanh)(u))
#define GELU_SCALE ((T)(M_2_SQRTPI * M_SQRT1_2))
#define GELU_CUBE ((T)0.044715)
#define U(x) (GELU_SCALE * ((x) + GELU_CUBE * (x) * (x) * (x)))
#define U1(x) (GELU_SCALE * (1 + 3 * GELU_CUBE * (x) * (x)))
#define U2(x) (GELU_SCALE * 6 * GELU_CUBE * (x))

#define NUMBERS(T)                                                                                 \
  const T p = (T)numbers[0], q = (T)numbers[1], r = (T)numbers[2];                                 \
  (void)p, (void)q, (void)r;
#define FORWARD_ROWS(T, expression)                                                                \
  while (td_walk_row(&walk)) {                                                                     \
    T *to = walk.at[0];                                                                            \
    const T *from = walk.at[1];                                                                    \
    int64_t step = walk.dense ? 1 : walk.step[1], to_step = walk.dense ? 1 : walk.step[0];         \
    for (int64_t i = 0; walk.dense && i < walk.n; i++) {                                           \
      const T x = from[i];                                                                         \
      to[i] = (T)(expression);                                                                     \
    }                                                                                              \
    for (int64_t i = 0; !walk.dense && i < walk.n; i++) {                                          \
      const T x = from[i * step];                                                                  \
      to[i * to_step] = (T)(expression);                                                           \
    }                                                                                              \
  }
#define BACKWARD_ROWS(T, expression)                                                               \
  while (td_walk_row(&walk)) {                                                                     \
    T *to = walk.at[0];                                                                            \
    const T *grads = walk.at[1], *from = walk.at[2];                                               \
    for (int64_t i = 0; walk.dense && i < walk.n; i++) {                                           \
      const T x = from[i], g = grads[i];                                                           \
      (void)x;                                                                                     \
      to[i] = (T)(expression);                                                                     \
    }                                                                                              \
    for (int64_t i = 0; !walk.dense && i < walk.n; i++) {                                          \
      const T x = from[i * walk.step[2]], g = grads[i * walk.step[1]];                             \
      (void)x;                                                                                     \
      to[i * walk.step[0]] = (T)(expression);                                                      \
    }                                                                                              \
  }

static void
walk_two(td_walk *walk, td_tensor *out, const td_tensor *in) {
  td_walk_init(walk, out->n_dims, out->sizes, 2, (const td_tensor *[]){out, in});
}

static void
walk_three(td_walk *walk, td_tensor *out, const td_tensor *grad, const td_tensor *kept) {
  td_walk_init(walk, out->n_dims, out->sizes, 3, (const td_tensor *[]){out, grad, kept});
}

#define TD_ACTIVATION(name, node_name, back_name, kept, f, b, s)                                   \
  static void name##_forward(td_tensor *out, const td_tensor *in, const double *numbers) {         \
    td_walk walk;                                                                                  \
    walk_two(&walk, out, in);                                                                      \
    TD_DISPATCH(out->dtype, NUMBERS(T) FORWARD_ROWS(T, f))                                         \
  }                                                                                                \
  static void name##_gradient(td_tensor *out, const td_tensor *grad, const td_tensor *kept_,       \
                              const double *numbers) {                                             \
    td_walk walk;                                                                                  \
    walk_three(&walk, out, grad, kept_);                                                           \
    TD_DISPATCH_FLOATING(out->dtype, NUMBERS(T) BACKWARD_ROWS(T, b))                               \
  }                                                                                                \
  static void name##_slope(td_tensor *out, const td_tensor *grad, const td_tensor *kept_,          \
                           const double *numbers) {                                                \
    td_walk walk;                                                                                  \
    walk_three(&walk, out, grad, kept_);                                                           \
    TD_DISPATCH_FLOATING(out->dtype, NUMBERS(T) BACKWARD_ROWS(T, s))                               \
  }
#include "engine/ops/activation.def"
#undef TD_ACTIVATION
#undef S
#undef NUMBERS

/* gradient or slope of tensors of equal sizes and dtype. */
static td_status
run(void (*kernel)(td_tensor *, const td_tensor *, const td_tensor *, const double *),
    const activation_node *node, td_tensor *grad, td_tensor *kept, td_tensor **out,
    td_error *error) {
  TD_LOCAL(cast);
  TD_TRY(td_kernel_cast(grad, kept->dtype, &cast, error));
  TD_TRY(td_tensor_new_empty(kept->dtype, kept->device, kept->n_dims, kept->sizes, out, error));
  kernel(*out, cast, kept, node->numbers);
  return TD_OK;
}

/* b(g, x):  dg = b(dr, x),  dx = dr s(g, x). The second has no further derivative. */
static td_status
back_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  activation_node *node = (activation_node *)op;
  TD_LOCAL(kept);
  TD_LOCAL(first);
  TD_LOCAL(slope);
  TD_LOCAL(product);
  TD_TRY(td_op_saved(op, 1, &kept, error));
  if (which == 0) {
    TD_TRY(run(node->row->gradient, node, grad, kept, out, error));
    td_op_end_once(*out, TD_INPUTS(grad, kept));
    return TD_OK;
  }
  TD_TRY(td_op_saved(op, 0, &first, error));
  TD_TRY(run(node->row->slope, node, first, kept, &slope, error));
  td_op_end_once(slope, TD_INPUTS(first, kept));
  return td_op_mul(grad, slope, out, error);
}

static activation_node *
begin(const td_op_class *klass, const activation *row, const double *numbers,
      td_tensor *const *inputs, uint32_t n_inputs) {
  activation_node *node = td_op_begin(klass, sizeof *node, inputs, n_inputs);
  if (!node) return NULL;
  node->row = row;
  memcpy(node->numbers, numbers, sizeof node->numbers);
  return node;
}

static td_status
formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  activation_node *node = (activation_node *)op;
  TD_LOCAL(kept);
  TD_TRY(td_op_saved(op, 0, &kept, error));
  TD_TRY(run(node->row->gradient, node, grad, kept, out, error));
  activation_node *back =
      begin(node->row->back_class, node->row, node->numbers, TD_INPUTS(grad, kept));
  if (!back) return TD_OK;
  td_op_save(&back->op, 0, grad);
  td_op_save(&back->op, 1, kept);
  td_op_end(&back->op, *out);
  return TD_OK;
}

/* Rows whose function is of integers too. */
static bool
keeps_integers(const activation *row) {
  return strncmp(row->name, "clamp", 5) == 0 || strcmp(row->name, "relu") == 0 ||
         strcmp(row->name, "threshold") == 0;
}

static td_status
check(const activation *row, const td_tensor *self, td_error *error) {
  TD_TRY(td_op_want_dense(self, row->name, error));
  if (td_dtype_is_complex(self->dtype) && keeps_integers(row))
    return td_error_set(error, TD_UNSUPPORTED, "clamp is not supported for complex types");
  return td_op_want_real(self, row->name, error);
}

static td_status
activate(const activation *row, td_tensor *self, const double *given, td_tensor **out,
         td_error *error) {
  double numbers[3] = {0};
  if (given) memcpy(numbers, given, sizeof numbers);
  TD_LOCAL(cast);
  TD_TRY(check(row, self, error));
  td_dtype dtype = keeps_integers(row) ? self->dtype : td_op_float_dtype(self->dtype);
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_new_empty(dtype, self->device, self->n_dims, self->sizes, out, error));
  row->forward(*out, cast, numbers);
  activation_node *node = begin(row->klass, row, numbers, TD_INPUTS(self));
  if (!node) return TD_OK;
  if (row->kept == SELF) td_op_save(&node->op, 0, self);
  td_op_end(&node->op, *out);
  if (row->kept == RESULT) td_op_save_result(&node->op, 0, *out);
  return TD_OK;
}

#define TD_ACTIVATION(name_, node_name, back_name, kept_, f, b, s)                                 \
  static const td_op_class name_##_class = TD_OP_CLASS(node_name, formula);                        \
  static const td_op_class name_##_back_class = TD_OP_CLASS(back_name, back_formula);              \
  static const activation name_##_row = {.klass = &name_##_class,                                  \
                                         .back_class = &name_##_back_class,                        \
                                         .name = #name_,                                           \
                                         .kept = kept_,                                            \
                                         .forward = name_##_forward,                               \
                                         .gradient = name_##_gradient,                             \
                                         .slope = name_##_slope};                                  \
  td_status td_op_##name_##_with(td_tensor *self, const double *numbers, td_tensor **out,          \
                                 td_error *error) {                                                \
    return activate(&name_##_row, self, numbers, out, error);                                      \
  }
#include "engine/ops/activation.def"
#undef TD_ACTIVATION

#define PLAIN(name)                                                                                \
  td_status td_op_##name(td_tensor *self, td_tensor **out, td_error *error) {                      \
    return td_op_##name##_with(self, NULL, out, error);                                            \
  }
PLAIN(relu)
PLAIN(tanh)
PLAIN(sigmoid)

typedef struct clamp_node {
  td_op_node op;
  td_input_metadata operands[3];
} clamp_node;

/* r = min(max(x, low), high):  the gradient goes to whichever of the three it is. */
static td_tensor *
clamp_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_tensor *self = SAVED(0), *low = SAVED(1), *high = SAVED(2), *zero = NUMBER(grad, 0);
  td_tensor *here = grad;
  if (which == 0) {
    if (low) here = WHERE(td_calc_ge(c, self, low), here, zero);
    if (high) here = WHERE(td_calc_le(c, self, high), here, zero);
  } else if (which == 1) {
    here = WHERE(td_calc_lt(c, self, low), here, zero);
    if (high) here = WHERE(td_calc_lt(c, low, high), here, zero);
  } else {
    here = WHERE(td_calc_gt(c, self, high), here, zero);
    if (low)
      here = ADD(here, WHERE(MUL(td_calc_le(c, self, high), td_calc_gt(c, low, high)), grad, zero));
  }
  return REDUCE(here, &((clamp_node *)op)->operands[which]);
}
static const td_op_class clamp_tensor_class = TD_CALC_CLASS("ClampBackward0", clamp_calc);

static td_status
clamp_result(td_tensor *self, td_tensor *min, td_tensor *max, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *now = td_calc_keep(c, td_tensor_detach(self));
  td_tensor *low = min ? td_calc_keep(c, td_tensor_detach(min)) : NULL;
  td_tensor *high = max ? td_calc_keep(c, td_tensor_detach(max)) : NULL;
  if (low) now = WHERE(td_calc_lt(c, now, low), low, now);
  if (high) now = WHERE(td_calc_gt(c, now, high), high, now);
  return td_calc_end(c, now, out);
}

td_status
td_op_clamp_tensor(td_tensor *self, td_tensor *min, td_tensor *max, td_tensor **out,
                   td_error *error) {
  if (!min && !max)
    return td_error_set(error, TD_INVALID,
                        "torch.clamp: At least one of 'min' or 'max' must not be None");
  TD_TRY(clamp_result(self, min, max, out, error));
  td_tensor *inputs[] = {self, min, max};
  clamp_node *node = td_op_begin(&clamp_tensor_class, sizeof *node, inputs, 3);
  if (!node) return TD_OK;
  for (int i = 0; i < 3; i++) {
    if (inputs[i]) node->operands[i] = td_op_metadata(inputs[i]);
    td_op_save(&node->op, i, inputs[i]);
  }
  td_op_end(&node->op, *out);
  return TD_OK;
}
