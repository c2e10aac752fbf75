/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Losses of classes: negative log likelihood, cross entropy. */
#include "engine/torch/ops/nn/loss.h"

#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/indexing/indexing.h"
#include "engine/torch/ops/pointwise/pointwise.h"

#include "engine/torch/graph/semantics.h"

#define IGNORED_TARGET (-100)

typedef struct nll_node {
  td_op_node op;
  td_input_metadata self;
  int64_t ignore_index;
  double total; /* what a mean divides by, else 1 */
  td_reduction reduction;
} nll_node;

/* The dimension of classes: 1, or 0 of a single row. */
static int
class_dim(int n_dims) {
  return n_dims == 1 ? 0 : 1;
}

static td_status
check_targets(const td_tensor *self, const td_tensor *target, const td_tensor *weight,
              int64_t ignored, td_error *error) {
  if (self->n_dims < 1 || target->n_dims != self->n_dims - 1)
    return td_error_set(error, TD_SHAPE,
                        self->n_dims > 0 && self->n_dims <= 2 && target->n_dims > 1
                            ? "0D or 1D target tensor expected, multi-target not supported"
                            : "nll_loss: expected an input of 1 or 2 dimensions and a target of "
                              "one fewer, but got %d and %d",
                        self->n_dims, target->n_dims);
  if (self->n_dims >= 2 && target->sizes[0] != self->sizes[0])
    return td_error_set(error, TD_VALUE,
                        "Expected input batch_size (%lld) to match target batch_size (%lld).",
                        (long long)self->sizes[0], (long long)target->sizes[0]);
  if (target->dtype != TD_INT64)
    return td_error_set(error, TD_DTYPE,
                        td_policy(name_operations)
                            ? "expected target dtype to be Long or Byte, but got %s"
                            : "expected scalar type Long but found %s",
                        td_op_scalar_type(target->dtype));
  int64_t n = td_tensor_n_elements(target), classes = self->sizes[class_dim(self->n_dims)];
  if (weight && (weight->n_dims != 1 || weight->sizes[0] != classes)) {
    char *text = td_tensor_shape_text(weight);
    td_error_set(
        error, TD_SHAPE,
        "weight tensor should be defined either for all %lld classes or no classes but got "
        "weight tensor of shape: %s",
        (long long)classes, text);
    free(text);
    return TD_SHAPE;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t wanted = (int64_t)td_tensor_get(target, i);
    if (wanted != ignored && (wanted < 0 || wanted >= classes))
      return td_error_set(error, TD_OUT_OF_RANGE, "Target %lld is out of bounds.",
                          (long long)wanted);
  }
  return TD_OK;
}

/* What each target counts, [n, ...]: its class's weight, or 1; 0 where it is ignored. */
static td_status
target_weights(const td_tensor *self, const td_tensor *target, const td_tensor *weight,
               int64_t ignored, td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new(self->dtype, self->device, target->n_dims, target->sizes, out, error));
  int64_t n = td_tensor_n_elements(target);
  for (int64_t i = 0; i < n; i++) {
    int64_t wanted = (int64_t)td_tensor_get(target, i);
    if (wanted != ignored) td_tensor_set(*out, i, weight ? td_tensor_get(weight, wanted) : 1);
  }
  return TD_OK;
}

/* Targets with ignored ones as class 0 and the dimension of classes as 1: what gather takes. */
static td_status
gather_index(td_tensor *target, int64_t ignored, int dim, td_tensor **out, td_error *error) {
  TD_LOCAL(copy);
  TD_TRY(td_op_clone(target, &copy, error));
  int64_t n = td_tensor_has_data(copy) ? td_tensor_n_elements(copy) : 0;
  for (int64_t *x = td_tensor_data(copy), i = 0; i < n; i++)
    if (x[i] == ignored) x[i] = 0;
  return td_op_unsqueeze(copy, dim, out, error);
}

/* The gradient, -weight at the targets and 0 elsewhere, of tensors without history. */
static td_tensor *
nll_gradient(td_calc *c, const nll_node *node, td_tensor *grad, td_tensor *target,
             td_tensor *weights) {
  td_tensor *index = NULL, *zeros = NULL, *out = NULL;
  if (c->status) return NULL;
  int dim = class_dim(node->self.n_dims);
  c->status = gather_index(target, node->ignore_index, dim, &index, c->error);
  td_calc_keep(c, index);
  td_tensor *rows = MUL(td_calc_bare(c, grad), SCALE(weights, -1 / node->total));
  rows = td_calc_unsqueeze(c, rows, dim);
  if (!c->status)
    c->status = td_tensor_new(node->self.dtype, node->self.device, node->self.n_dims,
                              node->self.sizes, &zeros, c->error);
  td_calc_keep(c, zeros);
  if (!c->status) c->status = td_op_scatter_add(zeros, dim, index, rows, &out, c->error);
  return td_calc_keep(c, out);
}

/* What each row loses, [n, ...]. */
static td_tensor *
row_losses(td_calc *c, td_tensor *self, td_tensor *target, td_tensor *weights, int64_t ignored) {
  td_tensor *index = NULL, *picked = NULL;
  int dim = class_dim(self->n_dims);
  td_tensor *plain = td_calc_keep(c, td_tensor_detach(self));
  c->status = gather_index(target, ignored, dim, &index, c->error);
  td_calc_keep(c, index);
  if (!c->status) c->status = td_op_gather(plain, dim, index, false, &picked, c->error);
  td_calc_keep(c, picked);
  td_sizes sizes = td_op_sizes(target);
  td_tensor *rows = td_calc_reshape(c, picked, &sizes), *zero = NUMBER(self, 0);
  return WHERE(td_calc_eq(c, weights, zero), zero, NEG(MUL(rows, weights)));
}

static td_status nll_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                             td_error *error);
static const td_op_class nll_class = TD_OP_CLASS("NllLossBackward0", nll_formula);
static const td_op_class nll_2d_class = TD_OP_CLASS("NllLoss2DBackward0", nll_formula);

static td_status nll_back_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                                  td_error *error);
static const td_op_class nll_back_class = TD_OP_CLASS("NllLossBackwardBackward0", nll_back_formula);
static const td_op_class nll_2d_back_class =
    TD_OP_CLASS("NllLoss2DBackwardBackward0", nll_back_formula);

/* What the loss and its gradient's gradient have in common: `like` says how to count. Saved:
 * target, weights of the targets. */
static void
nll_end(const td_op_class *klass, const nll_node *like, td_tensor *const *inputs, uint32_t n,
        td_tensor *const saved[3], td_tensor *result) {
  nll_node *node = td_op_begin(klass, sizeof *node, inputs, n);
  if (!node) return;
  node->self = like->self;
  node->ignore_index = like->ignore_index;
  node->total = like->total;
  node->reduction = like->reduction;
  for (int i = 0; i < 3; i++)
    td_op_save(&node->op, i, saved[i]);
  td_op_end(&node->op, result);
}

static td_status
nll_of_weights(const td_op_class *klass, const nll_node *like, td_tensor *self, td_tensor *target,
               td_tensor *weights, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *losses = row_losses(c, self, target, weights, like->ignore_index);
  if (like->reduction != TD_REDUCTION_NONE) losses = td_calc_sum_all(c, losses);
  if (like->reduction == TD_REDUCTION_MEAN) losses = DIV(losses, NUMBER(losses, like->total));
  TD_TRY(td_calc_end(c, losses, out));
  nll_end(klass, like, TD_INPUTS(self), (td_tensor *[]){target, weights, self}, *out);
  return TD_OK;
}

static bool
is_2d(const nll_node *node) {
  return node->self.n_dims == 4;
}

static td_status
nll_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const nll_node *node = (nll_node *)op;
  td_calc calc = {.error = error}, *c = &calc;
  TD_LOCAL(target);
  TD_LOCAL(weights);
  TD_LOCAL(self);
  TD_TRY(td_op_saved(op, 0, &target, error));
  TD_TRY(td_op_saved(op, 1, &weights, error));
  TD_TRY(td_op_saved(op, 2, &self, error));
  TD_TRY(td_calc_end(c, nll_gradient(c, node, grad, target, weights), out));
  nll_end(is_2d(node) ? &nll_2d_back_class : &nll_back_class, node, TD_INPUTS(grad, self),
          (td_tensor *[]){target, weights, NULL}, *out);
  return TD_OK;
}

/* The gradient is linear in grad, and self has no part in it. */
static td_status
nll_back_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                 td_error *error) {
  const nll_node *node = (nll_node *)op;
  TD_LOCAL(target);
  TD_LOCAL(weights);
  if (which == 1) return td_tensor_new_like(grad, out, error);
  TD_TRY(td_op_saved(op, 0, &target, error));
  TD_TRY(td_op_saved(op, 1, &weights, error));
  return nll_of_weights(is_2d(node) ? &nll_2d_class : &nll_class, node, grad, target, weights, out,
                        error);
}

static td_status
nll(const td_op_class *klass, td_tensor *self, td_tensor *target, td_tensor *weight,
    int64_t ignored, td_reduction reduction, td_tensor **out, td_error *error) {
  nll_node like = {
      .self = td_op_metadata(self), .ignore_index = ignored, .total = 1, .reduction = reduction};
  TD_LOCAL(weights);
  TD_LOCAL(sum);
  TD_TRY(target_weights(self, target, weight, ignored, &weights, error));
  if (reduction == TD_REDUCTION_MEAN) {
    TD_TRY(td_op_sum(weights, &sum, error));
    like.total = td_tensor_item(sum);
  }
  return nll_of_weights(klass, &like, self, target, weights, out, error);
}

/* Images of another number of dimensions than four become such first. */
static td_status
nll_many(td_tensor *self, td_tensor *target, td_tensor *weight, int64_t ignored,
         td_reduction reduction, td_tensor **out, td_error *error) {
  TD_LOCAL(image);
  TD_LOCAL(flat);
  TD_LOCAL(losses);
  int64_t n = self->sizes[0];
  if (self->n_dims == 4)
    return nll(&nll_2d_class, self, target, weight, ignored, reduction, out, error);
  TD_TRY(td_op_reshape(self, 4, (int64_t[]){n, self->sizes[1], 1, -1}, &image, error));
  TD_TRY(td_op_reshape(target, 3, (int64_t[]){n, 1, -1}, &flat, error));
  if (reduction != TD_REDUCTION_NONE)
    return nll(&nll_2d_class, image, flat, weight, ignored, reduction, out, error);
  TD_TRY(nll(&nll_2d_class, image, flat, weight, ignored, reduction, &losses, error));
  return td_op_view(losses, target->n_dims, target->sizes, out, error);
}

td_status
td_op_nll_loss_full(td_tensor *self, td_tensor *target, td_tensor *weight, int64_t ignore_index,
                    td_reduction reduction, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(td_op_want_floating(self, "nll_loss_out_frame", error));
  TD_TRY(check_targets(self, target, weight, ignore_index, error));
  TD_TRY(td_op_common_device(3, (td_tensor *[]){self, target, weight}, &device, error));
  if (self->n_dims > 2) return nll_many(self, target, weight, ignore_index, reduction, out, error);
  return nll(&nll_class, self, target, weight, ignore_index, reduction, out, error);
}

td_status
td_op_nll_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
               td_error *error) {
  return td_op_nll_loss_full(self, target, NULL, IGNORED_TARGET, reduction, out, error);
}

static td_tensor *
log_softmax(td_calc *c, td_tensor *self) {
  td_tensor *out = NULL;
  if (!c->status) c->status = td_op_log_softmax(self, class_dim(self->n_dims), &out, c->error);
  return td_calc_keep(c, out);
}

/* [classes] as [1, classes, 1 ...], beside self. */
static td_tensor *
spread_weight(td_calc *c, td_tensor *weight, const td_tensor *self) {
  if (c->status) return NULL;
  td_sizes sizes = {.n_dims = self->n_dims};
  for (int dim = 0; dim < self->n_dims; dim++)
    sizes.at[dim] = dim == class_dim(self->n_dims) ? self->sizes[dim] : 1;
  return td_calc_reshape(c, weight, &sizes);
}

static td_tensor *
nll_of(td_calc *c, td_tensor *logs, td_tensor *target, td_tensor *weight, int64_t ignored,
       td_reduction reduction) {
  td_tensor *out = NULL;
  if (!c->status)
    c->status = td_op_nll_loss_full(logs, target, weight, ignored, reduction, &out, c->error);
  return td_calc_keep(c, out);
}

/* The sum over classes without its dimension. */
static td_tensor *
sum_classes(td_calc *c, td_tensor *self) {
  td_tensor *out = NULL;
  if (c->status) return NULL;
  int64_t dim = class_dim(self->n_dims);
  c->status = td_op_sum_dims(self, 1, &dim, false, &out, c->error);
  return td_calc_keep(c, out);
}

/* The loss against all classes alike; ignored targets do not count. */
static td_tensor *
smooth_part(td_calc *c, td_tensor *logs, td_tensor *target, td_tensor *weight, int64_t ignored,
            td_reduction reduction) {
  td_tensor *all = NEG(sum_classes(c, weight ? MUL(logs, spread_weight(c, weight, logs)) : logs));
  td_tensor *filled = NULL, *counts = NULL;
  if (c->status) return NULL;
  td_tensor *ignored_number =
      td_calc_keep(c, td_tensor_new_scalar(TD_INT64, TD_CPU, (double)ignored));
  td_tensor *mask = td_calc_eq(c, target, ignored_number);
  if (!c->status) c->status = td_op_masked_fill(all, mask, 0, &filled, c->error);
  td_calc_keep(c, filled);
  if (reduction == TD_REDUCTION_NONE) return filled;
  td_tensor *sum = td_calc_sum_all(c, filled);
  if (reduction == TD_REDUCTION_SUM) return sum;
  if (!c->status) c->status = target_weights(logs, target, weight, ignored, &counts, c->error);
  td_tensor *count = td_calc_sum_all(c, td_calc_keep(c, counts));
  return DIV(sum, count);
}

static td_status
smoothed(td_tensor *self, td_tensor *target, td_tensor *weight, int64_t ignored,
         td_reduction reduction, double smoothing, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  TD_TRY(check_targets(self, target, weight, ignored, error));
  int64_t classes = self->sizes[class_dim(self->n_dims)];
  td_tensor *logs = log_softmax(c, self);
  td_tensor *sharp = nll_of(c, logs, target, weight, ignored, reduction);
  td_tensor *smooth = smooth_part(c, logs, target, weight, ignored, reduction);
  sharp = td_calc_scale(c, sharp, 1 - smoothing);
  smooth = td_calc_scale(c, smooth, smoothing / (double)classes);
  return td_calc_end(c, ADD(sharp, smooth), out);
}

/* target holds probabilities. */
static td_status
against_probabilities(td_tensor *self, td_tensor *target, td_tensor *weight, td_reduction reduction,
                      double smoothing, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  double classes = (double)self->sizes[class_dim(self->n_dims)];
  td_tensor *logs = log_softmax(c, self);
  if (smoothing > 0) target = PLUS(SCALE(target, 1 - smoothing), smoothing / classes);
  td_tensor *parts = MUL(logs, target);
  if (weight) parts = MUL(parts, spread_weight(c, weight, self));
  if (reduction == TD_REDUCTION_NONE) return td_calc_end(c, NEG(sum_classes(c, parts)), out);
  td_tensor *loss = NEG(td_calc_sum_all(c, parts));
  if (reduction == TD_REDUCTION_SUM) return td_calc_end(c, loss, out);
  double rows = (double)td_tensor_n_elements(self) / classes;
  return td_calc_end(c, td_calc_div_number(c, loss, rows), out);
}

td_status
td_op_cross_entropy_full(td_tensor *self, td_tensor *target, td_tensor *weight,
                         int64_t ignore_index, td_reduction reduction, double smoothing,
                         td_tensor **out, td_error *error) {
  TD_LOCAL(log_probability);
  if (self->n_dims < 1)
    return td_error_set(error, TD_SHAPE,
                        "Expected floating point type for target with class "
                        "probabilities, got Long");
  if (td_tensor_same_sizes(self, target) && td_dtype_is_floating(target->dtype))
    return against_probabilities(self, target, weight, reduction, smoothing, out, error);
  if (smoothing > 0)
    return smoothed(self, target, weight, ignore_index, reduction, smoothing, out, error);
  TD_TRY(td_op_log_softmax(self, class_dim(self->n_dims), &log_probability, error));
  return td_op_nll_loss_full(log_probability, target, weight, ignore_index, reduction, out, error);
}

td_status
td_op_cross_entropy(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
                    td_error *error) {
  return td_op_cross_entropy_full(self, target, NULL, IGNORED_TARGET, reduction, 0, out, error);
}
