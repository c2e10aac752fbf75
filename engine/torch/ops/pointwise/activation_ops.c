/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Each row of activation.def becomes three kernels (the function, its gradient, the gradient's
 * derivative) and two classes of nodes: a backward pass under create_graph hangs a node of its own
 * above the gradient, which knows how to go back once more. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/pointwise.h"

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
  bool slope_is_zero, takes_complex;
} activation;

typedef struct activation_node {
  td_op_node op;
  const activation *row;
  double numbers[3];
} activation_node;

/* What the formulas of the table are made of. */
#define F TD_OF_REAL
#define C TD_OF_COMPLEX
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

/* Of reals the numbers too. T is the type of x and of the numbers. */
#define COMPLEX_OF(dtype, ...)                                                                     \
  TD_DISPATCH_OVER(dtype, TD_DISPATCH_FLOATS(__VA_ARGS__) TD_DISPATCH_COMPLEX(__VA_ARGS__))
#define KERNELS(name, forward_of, backward_of, f, b, s)                                            \
  static void name##_forward(td_tensor *out, const td_tensor *in, const double *numbers) {         \
    td_walk walk;                                                                                  \
    walk_two(&walk, out, in);                                                                      \
    forward_of(out->dtype, NUMBERS(T) FORWARD_ROWS(T, f))                                          \
  }                                                                                                \
  static void name##_gradient(td_tensor *out, const td_tensor *grad, const td_tensor *kept_,       \
                              const double *numbers) {                                             \
    td_walk walk;                                                                                  \
    walk_three(&walk, out, grad, kept_);                                                           \
    backward_of(out->dtype, NUMBERS(T) BACKWARD_ROWS(T, b))                                        \
  }                                                                                                \
  static void name##_slope(td_tensor *out, const td_tensor *grad, const td_tensor *kept_,          \
                           const double *numbers) {                                                \
    td_walk walk;                                                                                  \
    walk_three(&walk, out, grad, kept_);                                                           \
    backward_of(out->dtype, NUMBERS(T) BACKWARD_ROWS(T, s))                                        \
  }
#define TD_ACTIVATION(name, node_name, back_name, kept, f, b, s)                                   \
  KERNELS(name, TD_DISPATCH, TD_DISPATCH_FLOATING, f, b, s)
#define TD_ACTIVATION_COMPLEX(name, node_name, back_name, kept, f, b, s)                           \
  KERNELS(name, COMPLEX_OF, COMPLEX_OF, f, b, s)
#include "engine/torch/ops/pointwise/activation.def"
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
  TD_TRY(td_tensor_laid_out(kept->dtype, kept->device, kept->n_dims, kept->sizes, 2,
                            (const td_tensor *[]){grad, kept}, out, error));
  kernel(*out, cast, kept, node->numbers);
  return TD_OK;
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

#define CALC_STEP(name, operation)                                                                 \
  static td_tensor *name(td_calc *c, td_tensor *x) {                                               \
    td_tensor *out = NULL;                                                                         \
    if (!c->status) c->status = operation(x, &out, c->error);                                      \
    return td_calc_keep(c, out);                                                                   \
  }
CALC_STEP(tanh_of, td_op_tanh)
CALC_STEP(log1p_of, td_op_log1p)

/* Of functions whose gradient PyTorch writes as an expression if it may be differentiated again. */
static td_tensor *
differentiable_gradient(td_calc *c, const activation *row, td_tensor *grad, td_tensor *x) {
  if (strcmp(row->name, "silu") == 0) {
    td_tensor *s = td_calc_sigmoid(c, x);
    return MUL(MUL(grad, s), PLUS(MUL(x, RSUB(1, s)), 1));
  }
  td_tensor *s = td_calc_sigmoid(c, x), *t = tanh_of(c, log1p_of(c, EXP(x)));
  return MUL(grad, ADD(t, MUL(MUL(x, s), RSUB(1, MUL(t, t)))));
}

static bool
is_differentiable(const activation *row) {
  return strcmp(row->name, "silu") == 0 || strcmp(row->name, "mish") == 0;
}

/* b(g, conj(x)), with a node of its own. */
static td_status
gradient(const activation_node *node, td_tensor *grad, td_tensor *kept, td_tensor **out,
         td_error *error) {
  if (td_grad_mode() && is_differentiable(node->row)) {
    td_calc calc = {.error = error};
    return td_calc_end(&calc, differentiable_gradient(&calc, node->row, grad, kept), out);
  }
  TD_LOCAL(conjugate);
  TD_TRY(td_op_conj(kept, &conjugate, error));
  TD_TRY(run(node->row->gradient, node, grad, conjugate, out, error));
  if (strcmp(node->row->name, "hardsigmoid") == 0) {
    td_op_end_unknown(*out, TD_INPUTS(grad, kept), "hardsigmoid_backward");
    return TD_OK;
  }
  activation_node *back =
      begin(node->row->back_class, node->row, node->numbers, TD_INPUTS(grad, kept));
  if (!back) return TD_OK;
  td_op_save(&back->op, 0, grad);
  td_op_save(&back->op, 1, kept);
  td_op_end(&back->op, *out);
  return TD_OK;
}

/* The two whose slope has derivatives without an end. */
static td_tensor *
differentiable_slope(td_calc *c, const activation *row, td_tensor *first, td_tensor *kept) {
  if (strcmp(row->name, "tanh") == 0) return MUL(SCALE(kept, -2), first);
  if (strcmp(row->name, "sigmoid") == 0) return MUL(first, RSUB(1, SCALE(kept, 2)));
  return NULL;
}

/* s(g, x). What is 0 everywhere has no history, as in PyTorch. */
static td_status
slope_of(const activation_node *node, td_tensor *first, td_tensor *kept, td_tensor **out,
         td_error *error) {
  td_calc calc = {.error = error};
  td_tensor *made = differentiable_slope(&calc, node->row, first, kept);
  if (made || calc.status) return td_calc_end(&calc, made, out);
  TD_TRY(run(node->row->slope, node, first, kept, out, error));
  if (!node->row->slope_is_zero) td_op_end_once(*out, TD_INPUTS(first, kept));
  return TD_OK;
}

/* b(g, conj(x)):  dg = b(dr, x),  dx = conj(dr) s(g, conj(x)) */
static td_status
back_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  activation_node *node = (activation_node *)op;
  TD_LOCAL(kept);
  TD_LOCAL(first);
  TD_LOCAL(slope);
  TD_LOCAL(self);
  TD_LOCAL(upstream);
  if (strcmp(op->node.klass->name, "NotImplemented") == 0)
    return td_error_set(error, TD_UNSUPPORTED,
                        "derivative for aten::%s_backward is not implemented", node->row->name);
  TD_TRY(td_op_saved(op, 1, &self, error));
  TD_TRY(td_op_conj(self, &kept, error));
  if (which == 0) return gradient(node, grad, kept, out, error);
  TD_TRY(td_op_saved(op, 0, &first, error));
  TD_TRY(slope_of(node, first, kept, &slope, error));
  TD_TRY(td_op_conj(grad, &upstream, error));
  return td_op_mul(upstream, slope, out, error);
}

static bool
begins(const activation *row, const char *word) {
  return strncmp(row->name, word, strlen(word)) == 0;
}

/* What was negative before may be positive in the result then. */
static td_status
refuse_negative(const activation_node *node, td_error *error) {
  if (node->row->kept != RESULT || node->numbers[0] >= 0) return TD_OK;
  bool leaky = begins(node->row, "leaky_relu");
  return td_error_set(error, TD_AUTOGRAD,
                      "In-place %s backward calculation is triggered with a negative slope which "
                      "is not supported. This is caused by calling in-place forward function with "
                      "a negative slope, please call out-of-place version instead.%s",
                      leaky ? "leakyReLu" : "elu",
                      leaky ? " File an issue at https://github.com/pytorch/pytorch if you do "
                              "require supporting in-place leakRelu backward calculation with "
                              "negative slope"
                            : "");
}

static td_status
formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(kept);
  TD_TRY(td_op_saved(op, 0, &kept, error));
  TD_TRY(refuse_negative((activation_node *)op, error));
  return gradient((activation_node *)op, grad, kept, out, error);
}

/* Rows whose function is of integers too. */
static bool
keeps_integers(const activation *row) {
  return begins(row, "clamp") || begins(row, "relu") || begins(row, "threshold") ||
         begins(row, "hardtanh");
}

static td_status
check(const activation *row, const td_tensor *self, td_error *error) {
  TD_TRY(td_op_want_dense(self, row->name, error));
  TD_TRY(td_op_check_dtype(row->name, self->dtype, error));
  if (td_dtype_is_complex(self->dtype) && keeps_integers(row))
    return td_error_set(error, TD_UNSUPPORTED, "clamp is not supported for complex types");
  return row->takes_complex ? TD_OK : td_op_want_real(self, row->name, error);
}

/* A bound that is not there is infinite, which no integer is. */
static void
fit_numbers(double numbers[3], td_dtype dtype) {
  td_dtype compute = td_dtype_compute(dtype);
  double most = compute == TD_INT64 ? 0x1.fffffffffffffp62 : INT32_MAX;
  for (int i = 0; i < 3 && (compute == TD_INT64 || compute == TD_INT32); i++)
    numbers[i] = fmax(fmin(numbers[i], most), -most);
}

static td_status
activate(const activation *row, td_tensor *self, const double *given, td_tensor **out,
         td_error *error) {
  double numbers[3] = {0};
  if (given) memcpy(numbers, given, sizeof numbers);
  TD_LOCAL(cast);
  TD_TRY(check(row, self, error));
  td_dtype dtype = keeps_integers(row) ? self->dtype : td_op_float_dtype(self->dtype);
  fit_numbers(numbers, dtype);
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_laid_out_like(self, dtype, self->device, out, error));
  row->forward(*out, cast, numbers);
  activation_node *node = begin(row->klass, row, numbers, TD_INPUTS(self));
  if (!node) return TD_OK;
  if (row->kept == SELF) td_op_save(&node->op, 0, self);
  td_op_end(&node->op, *out);
  if (row->kept == RESULT) td_op_save_result(&node->op, 0, *out);
  return TD_OK;
}

#define ROW(name_, node_name, back_name, kept_, f, b, s, takes_complex_)                           \
  static const td_op_class name_##_class = TD_OP_CLASS(node_name, formula);                        \
  static const td_op_class name_##_back_class = TD_OP_CLASS(back_name, back_formula);              \
  static const activation name_##_row = {.klass = &name_##_class,                                  \
                                         .back_class = &name_##_back_class,                        \
                                         .name = #name_,                                           \
                                         .kept = kept_,                                            \
                                         .forward = name_##_forward,                               \
                                         .gradient = name_##_gradient,                             \
                                         .slope = name_##_slope,                                   \
                                         .takes_complex = takes_complex_,                          \
                                         .slope_is_zero = strcmp(#s, "0 * g") == 0};               \
  td_status td_op_##name_##_with(td_tensor *self, const double *numbers, td_tensor **out,          \
                                 td_error *error) {                                                \
    return activate(&name_##_row, self, numbers, out, error);                                      \
  }
#define TD_ACTIVATION(...) ROW(__VA_ARGS__, false)
#define TD_ACTIVATION_COMPLEX(...) ROW(__VA_ARGS__, true)
#include "engine/torch/ops/pointwise/activation.def"
#undef TD_ACTIVATION

#define PLAIN(name)                                                                                \
  td_status td_op_##name(td_tensor *self, td_tensor **out, td_error *error) {                      \
    return td_op_##name##_with(self, NULL, out, error);                                            \
  }
PLAIN(relu)
PLAIN(tanh)
PLAIN(sigmoid)

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
  return here;
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
  td_op_node *op = td_op_begin(&clamp_tensor_class, sizeof *op, inputs, 3);
  if (!op) return TD_OK;
  for (int i = 0; i < 3; i++)
    td_op_save(op, i, inputs[i]);
  td_op_end(op, *out);
  return TD_OK;
}
