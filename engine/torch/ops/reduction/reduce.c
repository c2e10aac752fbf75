/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sums and means. */
#include "engine/torch/ops/reduction/reductions.h"

#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/plan.h"
#include "engine/torch/ops/base/widen.h"

/* r = sum x (or its mean):  dx = dr repeated (times 1 / n) */
static const td_op_class sum_class, mean_class, mean_dims_class;

static td_tensor *
reduce_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  const td_plan_node *node = (td_plan_node *)op;
  td_sizes sizes = {.n_dims = node->self.n_dims};
  memcpy(sizes.at, node->self.sizes, sizeof sizes.at);
  bool is_whole = op->node.klass == &sum_class.base || op->node.klass == &mean_class.base;
  bool is_mean = op->node.klass == &mean_class.base || op->node.klass == &mean_dims_class.base;
  bool is_dropped = !is_whole && node->plan.result.n_dims < node->plan.kept.n_dims;
  for (int i = 0; is_dropped && i < node->plan.n_dims; i++)
    grad = td_calc_unsqueeze(c, grad, node->plan.dims[i]);
  td_tensor *expanded = td_calc_expand(c, grad, &sizes);
  if (is_mean) expanded = td_calc_div_number(c, expanded, node->number);
  return td_calc_to(c, expanded, node->self.dtype);
}
static const td_op_class sum_class = TD_CALC_CLASS("SumBackward0", reduce_calc);
static const td_op_class sum_dims_class = TD_CALC_CLASS("SumBackward1", reduce_calc);
static const td_op_class mean_class = TD_CALC_CLASS("MeanBackward0", reduce_calc);
static const td_op_class mean_dims_class = TD_CALC_CLASS("MeanBackward1", reduce_calc);

static void
divide(td_tensor *tensor, int64_t count) {
  int64_t n = TD_LAUNCH("divide", 1, tensor) ? td_tensor_n_elements(tensor) : 0;
  if (td_dtype_is_complex(tensor->dtype))
    TD_DISPATCH_ALL(tensor->dtype, T *x = td_tensor_data(tensor);
                    for (int64_t i = 0; i < n; i++) x[i] /= (T)count;)
  else
    TD_DISPATCH_FLOATING(tensor->dtype, T *x = td_tensor_data(tensor);
                         for (int64_t i = 0; i < n; i++) x[i] /= (T)count;)
}

static td_status
reduce(const td_op_class *klass, bool is_mean, td_tensor *self, int n_dims, const int64_t *dims,
       bool keepdim, td_tensor **out, td_error *error) {
  td_plan plan;
  TD_LOCAL(cast);
  TD_LOCAL(kept);
  TD_TRY(td_plan_init(&plan, self, n_dims, dims, keepdim, error));
  TD_TRY(td_op_want_dense(self, "sum.dim_IntList", error));
  if (is_mean) TD_TRY(td_op_want_averageable(self, error));
  td_dtype dtype = td_dtype_is_differentiable(self->dtype) ? self->dtype : TD_INT64;
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_plan_tensor(&plan, td_dtype_compute(dtype), self->device, out, &kept, error));
  td_kernel_sum_into(kept, cast);
  if (is_mean) divide(*out, plan.count);
  TD_TRY(td_op_rounded(out, dtype, error));
  td_plan_node *node = td_plan_begin(klass, self, &plan);
  if (!node) return TD_OK;
  node->number = is_mean ? (double)plan.count : 1;
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_sum(td_tensor *self, td_tensor **out, td_error *error) {
  return reduce(&sum_class, false, self, 0, NULL, false, out, error);
}

td_status
td_op_mean(td_tensor *self, td_tensor **out, td_error *error) {
  return reduce(&mean_class, true, self, 0, NULL, false, out, error);
}

td_status
td_op_sum_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
               td_error *error) {
  return reduce(&sum_dims_class, false, self, n_dims, dims, keepdim, out, error);
}

td_status
td_op_mean_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
                td_error *error) {
  return reduce(&mean_dims_class, true, self, n_dims, dims, keepdim, out, error);
}
