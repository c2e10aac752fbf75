/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/loss.h"

#include "engine/ops/op.h"
#include "engine/ops/reduce.h"

#define IGNORED_TARGET (-100)

typedef struct nll_node {
  td_op_node op;
  td_input_metadata self;
  double weight; /* of a row in the loss: -1, or -1 / rows for a mean */
  bool per_row;  /* the loss was not reduced */
} nll_node;

static int64_t
class_count(const td_tensor *self) {
  return self->sizes[self->n_dims - 1];
}

static td_status
check_targets(const td_tensor *self, const td_tensor *target, td_error *error) {
  if (self->n_dims < 1 || self->n_dims > 2 || target->n_dims != self->n_dims - 1)
    return td_error_set(error, TD_SHAPE,
                        "nll_loss: expected an input of 1 or 2 dimensions and a target of one "
                        "fewer, but got %d and %d",
                        self->n_dims, target->n_dims);
  if (self->n_dims == 2 && target->sizes[0] != self->sizes[0])
    return td_error_set(error, TD_SHAPE,
                        "Expected input batch_size (%lld) to match target batch_size (%lld).",
                        (long long)self->sizes[0], (long long)target->sizes[0]);
  if (target->dtype != TD_INT64)
    return td_error_set(error, TD_DTYPE, "expected scalar type Long but found %s",
                        td_dtype_name(target->dtype));
  int64_t n = td_tensor_n_elements(target), classes = class_count(self);
  for (int64_t i = 0; i < n; i++) {
    int64_t wanted = (int64_t)td_tensor_get(target, i);
    if (wanted != IGNORED_TARGET && (wanted < 0 || wanted >= classes))
      return td_error_set(error, TD_OUT_OF_RANGE, "Target %lld is out of bounds.",
                          (long long)wanted);
  }
  return TD_OK;
}

static int64_t
count_targets(const td_tensor *target) {
  int64_t n = td_tensor_n_elements(target), count = 0;
  for (int64_t i = 0; i < n; i++)
    count += td_tensor_get(target, i) != IGNORED_TARGET;
  return count;
}

/* The loss is linear in self: `pattern`, which is `weight` at the targets and 0 elsewhere, is its
 * derivative. */
static td_status
target_pattern(const td_input_metadata *self, const td_tensor *target, double weight,
               td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new(self->dtype, self->device, self->n_dims, self->sizes, out, error));
  int64_t n = td_tensor_n_elements(target), classes = self->sizes[self->n_dims - 1];
  if (!TD_LAUNCH("nll_loss_backward", 1, *out, target)) return TD_OK;
  for (int64_t i = 0; i < n; i++) {
    int64_t wanted = (int64_t)td_tensor_get(target, i);
    if (wanted != IGNORED_TARGET) td_tensor_set(*out, i * classes + wanted, weight);
  }
  return TD_OK;
}

/* dself = dloss pattern, with one gradient for all rows or one per row */
static td_status
nll_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  nll_node *node = (nll_node *)op;
  TD_LOCAL(target);
  TD_LOCAL(pattern);
  TD_LOCAL(column);
  TD_TRY(td_op_saved(op, 0, &target, error));
  TD_TRY(target_pattern(&node->self, target, node->weight, &pattern, error));
  if (!node->per_row) return td_op_mul(grad, pattern, out, error);
  TD_TRY(td_op_unsqueeze(grad, -1, &column, error));
  return td_op_mul(column, pattern, out, error);
}
static const td_op_class nll_class = TD_OP_CLASS("NllLossBackward0", nll_formula);

/* What each row loses, [n]; 0 for ignored ones. */
static td_status
row_losses(td_tensor *self, td_tensor *target, td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new(self->dtype, self->device, target->n_dims, target->sizes, out, error));
  int64_t n = td_tensor_n_elements(target), classes = class_count(self);
  if (!TD_LAUNCH("nll_loss", 1, *out, self, target)) return TD_OK;
  for (int64_t i = 0; i < n; i++) {
    int64_t wanted = (int64_t)td_tensor_get(target, i);
    if (wanted != IGNORED_TARGET)
      td_tensor_set(*out, i, -td_tensor_get(self, i * classes + wanted));
  }
  return TD_OK;
}

static td_status
nll_result(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
           td_error *error) {
  TD_LOCAL(losses);
  TD_LOCAL(sum);
  TD_TRY(row_losses(self, target, &losses, error));
  if (reduction == TD_REDUCTION_NONE) {
    *out = TD_TAKE(losses);
    return TD_OK;
  }
  TD_TRY(td_kernel_sum_to(losses, 0, NULL, &sum, error));
  double total = td_tensor_item(sum);
  if (reduction == TD_REDUCTION_MEAN) total /= (double)count_targets(target);
  *out = td_tensor_new_scalar(self->dtype, self->device, total);
  TD_LAUNCH("nll_loss", 1, *out, sum);
  return TD_OK;
}

td_status
td_op_nll_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
               td_error *error) {
  td_device device;
  TD_TRY(td_op_want_floating(self, "nll_loss", error));
  TD_TRY(check_targets(self, target, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){self, target}, &device, error));
  TD_TRY(nll_result(self, target, reduction, out, error));
  nll_node *node = td_op_begin(&nll_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->self = td_op_metadata(self);
  node->weight = reduction == TD_REDUCTION_MEAN ? -1.0 / (double)count_targets(target) : -1;
  node->per_row = reduction == TD_REDUCTION_NONE;
  td_op_save(&node->op, 0, target);
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_cross_entropy(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
                    td_error *error) {
  TD_LOCAL(log_probability);
  TD_TRY(td_op_log_softmax(self, self->n_dims == 1 ? 0 : 1, &log_probability, error));
  return td_op_nll_loss(log_probability, target, reduction, out, error);
}

typedef struct mse_node {
  td_op_node op;
  double slope; /* 2, or 2 / n for a mean */
} mse_node;

/* loss = (a - b)^2:  da = slope (a - b) dloss,  db = -da */
static td_status
mse_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(self);
  TD_LOCAL(target);
  TD_LOCAL(difference);
  TD_LOCAL(slope);
  TD_LOCAL(scaled);
  TD_TRY(td_op_saved(op, 0, &self, error));
  TD_TRY(td_op_saved(op, 1, &target, error));
  TD_TRY(td_op_sub(which == 0 ? self : target, which == 0 ? target : self, 1, &difference, error));
  slope = td_op_scalar(grad, ((mse_node *)op)->slope, false);
  TD_TRY(td_op_mul(difference, slope, &scaled, error));
  return td_op_mul(scaled, grad, out, error);
}
static const td_op_class mse_class = TD_OP_CLASS("MseLossBackward0", mse_formula);

/* Of tensors without history. */
static td_status
mse_result(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
           td_error *error) {
  TD_LOCAL(a);
  TD_LOCAL(b);
  TD_LOCAL(difference);
  TD_LOCAL(square);
  a = td_tensor_detach(self);
  b = td_tensor_detach(target);
  TD_TRY(td_op_sub(a, b, 1, &difference, error));
  TD_TRY(td_op_mul(difference, difference, &square, error));
  if (reduction == TD_REDUCTION_MEAN) return td_op_mean(square, out, error);
  if (reduction == TD_REDUCTION_SUM) return td_op_sum(square, out, error);
  *out = TD_TAKE(square);
  return TD_OK;
}

/* Of tensors with equal sizes. */
static td_status
mse_of_equals(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
              td_error *error) {
  TD_TRY(mse_result(self, target, reduction, out, error));
  mse_node *node = td_op_begin(&mse_class, sizeof *node, TD_INPUTS(self, target));
  if (!node) return TD_OK;
  int64_t n = td_tensor_n_elements(self);
  node->slope = reduction == TD_REDUCTION_MEAN ? 2.0 / (double)n : 2;
  td_op_save(&node->op, 0, self);
  td_op_save(&node->op, 1, target);
  td_op_end(&node->op, *out);
  return TD_OK;
}

static td_status
expand_to(td_tensor *self, const td_sizes *sizes, td_tensor **out, td_error *error) {
  if (self->n_dims != sizes->n_dims ||
      memcmp(self->sizes, sizes->at, (size_t)sizes->n_dims * sizeof *sizes->at) != 0)
    return td_op_expand(self, sizes->n_dims, sizes->at, out, error);
  *out = td_tensor_ref(self);
  return TD_OK;
}

td_status
td_op_mse_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
               td_error *error) {
  td_sizes a = td_op_sizes(self), b = td_op_sizes(target), sizes;
  TD_LOCAL(wide);
  TD_LOCAL(wide_target);
  TD_TRY(td_op_same_dtype(self, target, error));
  TD_TRY(td_op_want_floating(self, "mse_loss", error));
  TD_TRY(td_op_broadcast(&a, &b, &sizes, error));
  TD_TRY(expand_to(self, &sizes, &wide, error));
  TD_TRY(expand_to(target, &sizes, &wide_target, error));
  return mse_of_equals(wide, wide_target, reduction, out, error);
}
