/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/nn/loss.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"

#include <math.h>

typedef struct softmax_node {
  td_op_node op;
  int64_t dim;
} softmax_node;

/* One line: exp(x - max) / sum, or x - max - log sum. */
#define DEFINE_LINE(T, exp_, log_)                                                                 \
  static void line_##T(T *out, int64_t out_step, const T *in, int64_t in_step, int64_t n,          \
                       bool is_log) {                                                              \
    T largest = n ? in[0] : 0, sum = 0;                                                            \
    for (int64_t i = 1; i < n; i++)                                                                \
      largest = in[i * in_step] > largest ? in[i * in_step] : largest;                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
      T shifted = in[i * in_step] - largest, power = exp_(shifted);                                \
      sum += power;                                                                                \
      out[i * out_step] = is_log ? shifted : power;                                                \
    }                                                                                              \
    T log_sum = log_(sum);                                                                         \
    for (int64_t i = 0; i < n; i++)                                                                \
      out[i * out_step] = is_log ? out[i * out_step] - log_sum : out[i * out_step] / sum;          \
  }
DEFINE_LINE(float, expf, logf)
DEFINE_LINE(double, exp, log)

static void
softmax_kernel(td_tensor *out, const td_tensor *self, int dim, bool is_log) {
  bool is_scalar = self->n_dims == 0;
  int64_t n = is_scalar ? 1 : self->sizes[dim];
  int64_t to = is_scalar ? 1 : out->strides[dim], from = is_scalar ? 1 : self->strides[dim];
  td_walk walk;
  td_walk_init_lines(&walk, dim, 2, (const td_tensor *[]){out, self});
  while (td_walk_row(&walk))
    for (int64_t i = 0; i < walk.n; i++)
      if (self->dtype == TD_FLOAT32)
        line_float((float *)walk.at[0] + i * walk.step[0], to,
                   (const float *)walk.at[1] + i * walk.step[1], from, n, is_log);
      else
        line_double((double *)walk.at[0] + i * walk.step[0], to,
                    (const double *)walk.at[1] + i * walk.step[1], from, n, is_log);
}

static td_status
softmax(const td_op_class *klass, bool is_log, td_tensor *self, int64_t dim, td_tensor **out,
        td_error *error) {
  int at;
  TD_LOCAL(wide);
  static const char *const names[2][2] = {
      {"softmax_kernel_impl", "softmax_lastdim_kernel_impl"},
      {"log_softmax_kernel_impl", "log_softmax_lastdim_kernel_impl"}};
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  TD_TRY(td_op_want_floating(self, names[is_log][at == TD_MAX(self->n_dims, 1) - 1], error));
  TD_TRY(td_op_widen(self, &wide, error));
  TD_TRY(td_tensor_new_empty(wide->dtype, self->device, self->n_dims, self->sizes, out, error));
  if (td_tensor_n_elements(self) > 0) softmax_kernel(*out, wide, at, is_log);
  TD_TRY(td_op_rounded(out, self->dtype, error));
  softmax_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->dim = at;
  td_op_end(&node->op, *out);
  td_op_save_result(&node->op, 0, *out);
  return TD_OK;
}

/* r = softmax x:  dx = r (dr - sum(dr r)) */
static td_tensor *
gradient_of(td_calc *c, td_tensor *grad, td_tensor *result, int64_t dim) {
  td_tensor *sum = td_calc_sum(c, MUL(grad, result), dim);
  return MUL(SUB(grad, sum), result);
}

static td_status gradient(td_tensor *grad, td_tensor *result, int64_t dim, td_tensor **out,
                          td_error *error);

/* g(d, r) = r (d - sum(d r)) of a gradient v:  dd = g(v, r),  dr = d v - v sum(d r) - d sum(v r) */
static td_status
data_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  int64_t dim = ((softmax_node *)op)->dim;
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *first = SAVED(0), *result = SAVED(1);
  if (which == 0) {
    td_status status = c->status ? c->status : gradient(grad, result, dim, out, error);
    td_tensor *made = status ? NULL : td_calc_keep(c, *out);
    c->status = status;
    return td_calc_end(c, made, out);
  }
  td_tensor *sum = td_calc_sum(c, MUL(result, first), dim);
  td_tensor *other = td_calc_sum(c, MUL(result, grad), dim);
  td_tensor *both = SUB(MUL(first, grad), MUL(sum, grad));
  return td_calc_end(c, SUB(both, MUL(first, other)), out);
}
static const td_op_class data_class = TD_OP_CLASS("SoftmaxBackwardDataBackward0", data_formula);

/* One node for the whole, as PyTorch. */
static td_status
gradient(td_tensor *grad, td_tensor *result, int64_t dim, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *bare = td_calc_keep(c, td_tensor_detach(grad));
  td_tensor *bare_result = td_calc_keep(c, td_tensor_detach(result));
  TD_TRY(td_calc_end(c, gradient_of(c, bare, bare_result, dim), out));
  softmax_node *node = td_op_begin(&data_class, sizeof *node, TD_INPUTS(grad, result));
  if (!node) return TD_OK;
  node->dim = dim;
  td_op_save(&node->op, 0, grad);
  td_op_save(&node->op, 1, result);
  td_op_end(&node->op, *out);
  return TD_OK;
}

static td_status
softmax_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(result);
  TD_TRY(td_op_saved(op, 0, &result, error));
  return gradient(grad, result, ((softmax_node *)op)->dim, out, error);
}
static const td_op_class softmax_class = TD_OP_CLASS("SoftmaxBackward0", softmax_formula);

td_status
td_op_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  return softmax(&softmax_class, false, self, dim, out, error);
}

/* r = log softmax x:  dx = dr - exp(r) sum(dr). numbers: the dimension. */
KERNEL(log_softmax_data) {
  return SUB(at[0], MUL(EXP(at[1]), td_calc_sum(c, at[0], (int64_t)numbers[0])));
}

CALC(log_softmax_data) {
  int64_t dim = (int64_t)KERNEL_NUMBERS[0];
  td_tensor *first = SAVED(0), *result = SAVED(1);
  if (which == 0) return SUB(grad, td_calc_sum(c, MUL(grad, EXP(result)), dim));
  return MUL(MUL(NEG(td_calc_sum(c, first, dim)), EXP(result)), grad);
}
static const td_op_class log_softmax_data_class =
    TD_CALC_CLASS("LogSoftmaxBackwardDataBackward0", log_softmax_data_calc);

CALC(log_softmax) {
  const double numbers[2] = {(double)((softmax_node *)op)->dim};
  return AS_ONE(log_softmax_data_class, log_softmax_data_kernel, numbers, grad, SAVED(0));
}
static const td_op_class log_softmax_class = TD_CALC_CLASS("LogSoftmaxBackward0", log_softmax_calc);

td_status
td_op_log_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  return softmax(&log_softmax_class, true, self, dim, out, error);
}
