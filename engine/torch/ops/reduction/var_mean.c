/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Variance (or its root) and mean together: one node with a gradient for each. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/plan.h"
#include "engine/torch/pass/exec_info.h"

#include <math.h>

static td_tensor *
mean_kept(td_calc *c, td_tensor *self, const td_plan *plan) {
  td_tensor *sum = plan->n_dims ? td_calc_sum_dims(c, self, plan->n_dims, plan->dims) : self;
  return SCALE(sum, 1.0 / (double)plan->count);
}

/* What comes through the variance, of the gradient of the variance itself. */
static td_tensor *
through_variance(td_calc *c, td_plan_node *node, td_tensor *grad, td_tensor *self) {
  td_tensor *kept = td_calc_reshape(c, grad, &node->plan.kept);
  return MUL(SCALE(kept, 2 / node->number), SUB(self, mean_kept(c, self, &node->plan)));
}

static td_tensor *
through_mean(td_calc *c, const td_plan_node *node, td_tensor *grad) {
  td_sizes sizes = {.n_dims = node->self.n_dims};
  memcpy(sizes.at, node->self.sizes, sizeof sizes.at);
  td_tensor *wide = td_calc_expand(c, td_calc_reshape(c, grad, &node->plan.kept), &sizes);
  return DIV(wide, NUMBER(grad, (double)node->plan.count));
}

/* r = sqrt var:  dvar = dr / 2r, 0 where r is */
static td_tensor *
through_root(td_calc *c, td_tensor *grad, td_tensor *root) {
  td_tensor *zero = NUMBER(grad, 0);
  return WHERE(td_calc_eq(c, root, zero), zero, DIV(grad, SCALE(root, 2)));
}

static td_status
backward(td_node *node, td_tensor *const *grads, td_tensor **outputs, bool root, td_error *error) {
  td_plan_node *plan_node = (td_plan_node *)node;
  td_op_node *op = &plan_node->op;
  td_calc calc = {.error = error}, *c = &calc;
  outputs[0] = NULL;
  if (!td_needs_gradient(node, 0) || (!grads[0] && !grads[1])) return TD_OK;
  td_tensor *of_variance = grads[0], *sum = NULL;
  if (of_variance && root) of_variance = through_root(c, of_variance, SAVED(1));
  if (of_variance) sum = through_variance(c, plan_node, of_variance, SAVED(0));
  td_tensor *of_mean = grads[1] ? through_mean(c, plan_node, grads[1]) : NULL;
  return td_calc_end(c, sum && of_mean ? ADD(sum, of_mean) : sum ? sum : of_mean, &outputs[0]);
}

static td_status
var_backward(td_node *node, td_tensor *const *grads, td_tensor **outputs, td_error *error) {
  return backward(node, grads, outputs, false, error);
}

static td_status
std_backward(td_node *node, td_tensor *const *grads, td_tensor **outputs, td_error *error) {
  return backward(node, grads, outputs, true, error);
}

static const td_op_class var_class = {
    {.name = "VarMeanBackward0", .apply = var_backward, .release_variables = td_op_release}};
static const td_op_class std_class = {
    {.name = "StdMeanBackward0", .apply = std_backward, .release_variables = td_op_release}};

typedef td_status (*spread)(td_tensor *self, int n_dims, const int64_t *dims, double correction,
                            bool keepdim, td_tensor **out, td_error *error);

static td_status
spread_and_mean(bool root, td_tensor *self, int n_dims, const int64_t *dims, double correction,
                bool keepdim, td_tensor **spread_out, td_tensor **mean, td_error *error) {
  td_plan plan;
  TD_LOCAL(bare);
  bare = td_tensor_detach(self);
  TD_TRY(td_plan_init(&plan, self, n_dims, dims, keepdim, error));
  spread op = root ? td_op_std : td_op_var;
  TD_TRY(op(bare, n_dims, dims, correction, keepdim, spread_out, error));
  td_status status = td_op_mean_dims(bare, n_dims, dims, keepdim, mean, error);
  if (status) td_tensor_unref(TD_TAKE(*spread_out));
  if (status) return status;
  td_plan_node *node = td_plan_begin(root ? &std_class : &var_class, self, &plan);
  if (!node) return TD_OK;
  node->number = fmax(0, (double)plan.count - correction);
  td_op_save(&node->op, 0, self);
  td_function_end(&node->op.node, (td_tensor *[]){*spread_out, *mean}, 2);
  if (root) td_op_save_result(&node->op, 1, *spread_out);
  return TD_OK;
}

td_status
td_op_var_mean(td_tensor *self, int n_dims, const int64_t *dims, double correction, bool keepdim,
               td_tensor **var, td_tensor **mean, td_error *error) {
  return spread_and_mean(false, self, n_dims, dims, correction, keepdim, var, mean, error);
}

td_status
td_op_std_mean(td_tensor *self, int n_dims, const int64_t *dims, double correction, bool keepdim,
               td_tensor **std, td_tensor **mean, td_error *error) {
  return spread_and_mean(true, self, n_dims, dims, correction, keepdim, std, mean, error);
}
