/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/loss.h"
#include "engine/ops/op.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reductions.h"

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
  TD_TRY(td_op_want_floating(self, is_log ? "log_softmax" : "softmax", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, self->n_dims, self->sizes, out, error));
  if (td_tensor_n_elements(self) > 0) softmax_kernel(*out, self, at, is_log);
  softmax_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->dim = at;
  td_op_end(&node->op, *out);
  td_op_save_result(&node->op, 0, *out);
  return TD_OK;
}

/* r = softmax x:  dx = r (dr - sum(dr r)) */
static td_status
softmax_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  int64_t dim = ((softmax_node *)op)->dim;
  TD_LOCAL(result);
  TD_LOCAL(weighted);
  TD_LOCAL(sum);
  TD_LOCAL(centred);
  TD_TRY(td_op_saved(op, 0, &result, error));
  TD_TRY(td_op_mul(grad, result, &weighted, error));
  TD_TRY(td_op_sum_dims(weighted, 1, &dim, true, &sum, error));
  TD_TRY(td_op_sub(grad, sum, 1, &centred, error));
  return td_op_mul(centred, result, out, error);
}
static const td_op_class softmax_class = TD_OP_CLASS("SoftmaxBackward0", softmax_formula);

td_status
td_op_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  return softmax(&softmax_class, false, self, dim, out, error);
}

/* r = log softmax x:  dx = dr - exp(r) sum(dr) */
static td_status
log_softmax_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                    td_error *error) {
  int64_t dim = ((softmax_node *)op)->dim;
  TD_LOCAL(result);
  TD_LOCAL(probability);
  TD_LOCAL(sum);
  TD_LOCAL(share);
  TD_TRY(td_op_saved(op, 0, &result, error));
  TD_TRY(td_op_exp(result, &probability, error));
  TD_TRY(td_op_sum_dims(grad, 1, &dim, true, &sum, error));
  TD_TRY(td_op_mul(probability, sum, &share, error));
  return td_op_sub(grad, share, 1, out, error);
}
static const td_op_class log_softmax_class =
    TD_OP_CLASS("LogSoftmaxBackward0", log_softmax_formula);

td_status
td_op_log_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  return softmax(&log_softmax_class, true, self, dim, out, error);
}
