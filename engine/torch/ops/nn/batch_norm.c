/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/nn/normalization.h"
#include "engine/torch/ops/nn/normalize.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/moments.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/pass/exec_info.h"

#include <math.h>

enum { INPUT, WEIGHT, BIAS, N_OPERANDS };
enum { MEAN, INVSTD, RUNNING_MEAN, RUNNING_VAR, N_MORE };

typedef struct batch_norm_node {
  td_op_node op; /* saves input and weight */
  td_saved_variable more[N_MORE];
  bool training;
  double eps;
} batch_norm_node;

/* A contiguous tensor as `outer` times `channels` runs of `n` elements. */
typedef struct planes {
  td_dtype dtype;
  int64_t outer, channels, n;
} planes;

static planes
planes_of(const td_tensor *tensor) {
  planes p = {.dtype = tensor->dtype, .outer = tensor->sizes[0], .channels = tensor->sizes[1]};
  p.n = p.outer * p.channels ? td_tensor_n_elements(tensor) / (p.outer * p.channels) : 0;
  return p;
}

static void *
plane_at(const planes *p, const td_tensor *tensor, int64_t outer, int64_t channel) {
  int64_t at = (outer * p->channels + channel) * p->n;
  return (char *)td_tensor_data(tensor) + at * (int64_t)td_dtype_size(p->dtype);
}

static double
get_or(const td_tensor *tensor, int64_t channel, double otherwise) {
  return tensor ? td_tensor_get(tensor, channel) : otherwise;
}

/* One channel's mean and variance. */
static void
channel_moments(const planes *p, const td_tensor *x, int64_t channel, double *mean, double *var) {
  double sum = 0, squares = 0, count = (double)(p->outer * p->n);
  for (int64_t outer = 0; outer < p->outer; outer++)
    sum += td_moment_sum(p->dtype, plane_at(p, x, outer, channel), p->n);
  *mean = sum / count;
  for (int64_t outer = 0; outer < p->outer; outer++)
    squares += td_moment_squares(p->dtype, plane_at(p, x, outer, channel), p->n, *mean);
  *var = squares / count;
}

/* running = (1 - momentum) running + momentum found */
static void
move_running(td_tensor *running, int64_t channel, double momentum, double found) {
  if (!running) return;
  double before = td_tensor_get(running, channel);
  td_tensor_set(running, channel, before + momentum * (found - before));
}

static void
normalize_channel(const planes *p, td_tensor *x, const td_batch_norm *norm, int64_t channel,
                  td_tensor *const saved[2], td_tensor *out) {
  double mean, var, count = (double)(p->outer * p->n);
  if (norm->training) {
    channel_moments(p, x, channel, &mean, &var);
    td_tensor_set(saved[MEAN], channel, mean);
    td_tensor_set(saved[INVSTD], channel, 1 / sqrt(var + norm->eps));
    move_running(norm->running_mean, channel, norm->momentum, mean);
    move_running(norm->running_var, channel, norm->momentum, var * count / (count - 1));
  } else {
    mean = td_tensor_get(norm->running_mean, channel);
    var = td_tensor_get(norm->running_var, channel);
  }
  double scale = get_or(norm->weight, channel, 1) / sqrt(var + norm->eps);
  double shift = get_or(norm->bias, channel, 0) - mean * scale;
  for (int64_t outer = 0; outer < p->outer; outer++)
    td_moment_line(p->dtype, plane_at(p, out, outer, channel), plane_at(p, x, outer, channel), NULL,
                   p->n, scale, 0, shift);
}

/* With c = w / std and the means over the channel:  dx = c (dy - mean(dy) - (x - mean) / var
 * mean(dy (x - mean))), but c dy alone where the moments were given. */
static void
channel_gradient(const batch_norm_node *node, const planes *p, td_tensor *dy, td_tensor *x,
                 double weight, const double moments[2], int64_t channel, td_tensor *out[]) {
  double sums[2] = {0}, mean = moments[MEAN], invstd = moments[INVSTD], c = weight * invstd;
  double count = (double)(p->outer * p->n), a = 0, shift = 0;
  for (int64_t outer = 0; outer < p->outer; outer++)
    td_moment_products(p->dtype, plane_at(p, dy, outer, channel), plane_at(p, x, outer, channel),
                       p->n, mean, sums);
  if (out[WEIGHT]) td_tensor_set(out[WEIGHT], channel, sums[1] * invstd);
  if (out[BIAS]) td_tensor_set(out[BIAS], channel, sums[0]);
  if (!out[INPUT]) return;
  if (node->training) {
    a = -c * invstd * invstd * sums[1] / count;
    shift = -c * sums[0] / count - a * mean;
  }
  for (int64_t outer = 0; outer < p->outer; outer++)
    td_moment_line(p->dtype, plane_at(p, out[INPUT], outer, channel),
                   plane_at(p, dy, outer, channel), plane_at(p, x, outer, channel), p->n, c, a,
                   shift);
}

static td_status
new_result(const td_tensor *like, bool wanted, td_tensor **out, td_error *error) {
  if (!wanted) return TD_OK;
  return td_tensor_new_empty(like->dtype, like->device, like->n_dims, like->sizes, out, error);
}

static td_status
kernel_gradients(const batch_norm_node *node, td_tensor *grad, td_tensor *input, td_tensor *weight,
                 td_tensor *const saved[N_MORE], const bool wanted[N_OPERANDS],
                 td_tensor *out[N_OPERANDS], td_error *error) {
  TD_LOCAL(dy);
  TD_LOCAL(x);
  TD_TRY(td_op_widen_contiguous(grad, &dy, error));
  TD_TRY(td_op_widen_contiguous(input, &x, error));
  planes p = planes_of(x);
  TD_TRY(new_result(x, wanted[INPUT], &out[INPUT], error));
  int64_t channels[] = {p.channels};
  for (int i = WEIGHT; i <= BIAS; i++)
    if (wanted[i]) TD_TRY(td_tensor_new_empty(p.dtype, input->device, 1, channels, &out[i], error));
  if (!TD_LAUNCH("batch_norm_backward", 3, out[INPUT], out[WEIGHT], out[BIAS], dy, x, weight,
                 saved[MEAN], saved[INVSTD]))
    return TD_OK;
  for (int64_t channel = 0; channel < p.channels; channel++) {
    double moments[2];
    if (node->training) {
      moments[MEAN] = td_tensor_get(saved[MEAN], channel);
      moments[INVSTD] = td_tensor_get(saved[INVSTD], channel);
    } else {
      moments[MEAN] = td_tensor_get(saved[RUNNING_MEAN], channel);
      moments[INVSTD] = 1 / sqrt(td_tensor_get(saved[RUNNING_VAR], channel) + node->eps);
    }
    channel_gradient(node, &p, dy, x, get_or(weight, channel, 1), moments, channel, out);
  }
  for (int i = 0; i < N_OPERANDS; i++)
    TD_TRY(td_op_rounded(&out[i], i && weight ? weight->dtype : input->dtype, error));
  return TD_OK;
}

/* The sizes of a parameter [channels] as it broadcasts to the input. */
static td_input_metadata
beside_sizes(const td_tensor *input) {
  td_input_metadata sizes = td_op_metadata(input);
  for (int dim = 0; dim < sizes.n_dims; dim++)
    if (dim != 1) sizes.sizes[dim] = 1;
  return sizes;
}

static td_status
beside(const td_input_metadata *sizes, td_tensor *channels, td_tensor **out, td_error *error) {
  return channels ? td_op_view(channels, sizes->n_dims, sizes->sizes, out, error) : TD_OK;
}

static td_status
given_invstd(td_tensor *running_var, double eps, td_tensor **out, td_error *error) {
  TD_LOCAL(small);
  TD_LOCAL(sum);
  small = td_op_scalar(running_var, eps, false);
  TD_TRY(td_op_add(running_var, small, 1, &sum, error));
  return td_op_pow_scalar(sum, -0.5, out, error);
}

static td_status
recorded_gradients(const batch_norm_node *node, td_tensor *grad, td_tensor *input,
                   td_tensor *weight, td_tensor *const saved[N_MORE], const bool wanted[N_OPERANDS],
                   td_tensor *out[N_OPERANDS], td_error *error) {
  TD_LOCAL(scale);
  TD_LOCAL(mean);
  TD_LOCAL(std);
  TD_LOCAL(invstd);
  td_normalized n = {.input = input, .affine = beside_sizes(input), .eps = node->eps};
  n.n_dims = input->n_dims - 1;
  for (int dim = 2; dim < input->n_dims; dim++)
    n.dims[dim - 1] = dim;
  TD_TRY(beside(&n.affine, weight, &scale, error));
  if (!node->training) {
    TD_TRY(beside(&n.affine, saved[RUNNING_MEAN], &mean, error));
    TD_TRY(given_invstd(saved[RUNNING_VAR], node->eps, &std, error));
    TD_TRY(beside(&n.affine, std, &invstd, error));
  }
  n.weight = scale;
  n.mean = mean;
  n.invstd = invstd;
  TD_TRY(td_normalize_gradients(&n, grad, wanted, out, error));
  for (int i = WEIGHT; i <= BIAS; i++) {
    TD_LOCAL(wide);
    wide = td_op_take(&out[i]);
    if (wide) TD_TRY(td_op_view(wide, 1, (int64_t[]){input->sizes[1]}, &out[i], error));
  }
  return TD_OK;
}

static td_status
unpack(batch_norm_node *node, td_tensor *saved[N_MORE], td_error *error) {
  td_status status = TD_OK;
  td_node_lock(&node->op.node);
  for (int i = 0; status == TD_OK && i < N_MORE; i++)
    status = td_saved_variable_unpack(&node->more[i], &node->op.node, &saved[i], error);
  td_node_unlock(&node->op.node);
  return status;
}

static td_status
gradients(batch_norm_node *node, td_tensor *grad, td_tensor *const saved[N_MORE],
          const bool wanted[N_OPERANDS], td_tensor *out[N_OPERANDS], td_error *error) {
  TD_LOCAL(input);
  TD_LOCAL(weight);
  TD_TRY(td_op_saved(&node->op, INPUT, &input, error));
  TD_TRY(td_op_saved(&node->op, WEIGHT, &weight, error));
  if (td_normalize_wants_graph(grad, input, weight))
    return recorded_gradients(node, grad, input, weight, saved, wanted, out, error);
  return kernel_gradients(node, grad, input, weight, saved, wanted, out, error);
}

static td_status
batch_norm_apply(td_node *self, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  batch_norm_node *node = (batch_norm_node *)self;
  bool wanted[N_OPERANDS];
  td_tensor *saved[N_MORE] = {NULL};
  for (uint32_t i = 0; i < N_OPERANDS; i++) {
    outputs[i] = NULL;
    wanted[i] = td_needs_gradient(self, i);
  }
  if (!inputs[0]) return TD_OK;
  td_status status = unpack(node, saved, error);
  if (!status) status = gradients(node, inputs[0], saved, wanted, outputs, error);
  td_op_drop(saved, N_MORE);
  if (status) td_op_drop(outputs, N_OPERANDS);
  return status;
}

static void
batch_norm_release(td_node *self) {
  td_op_release(self);
  for (int i = 0; i < N_MORE; i++)
    td_saved_variable_release(&((batch_norm_node *)self)->more[i]);
}

static const td_op_class batch_norm_class = {{.name = "NativeBatchNormBackward0",
                                              .apply = batch_norm_apply,
                                              .release_variables = batch_norm_release}};

static td_status
check_channels(const char *what, const td_tensor *parameter, int64_t channels, td_error *error) {
  if (!parameter || td_tensor_n_elements(parameter) == channels) return TD_OK;
  return td_error_set(error, TD_SHAPE, "%s should contain %lld elements not %lld", what,
                      (long long)channels, (long long)td_tensor_n_elements(parameter));
}

static td_status
check(td_tensor *self, const td_batch_norm *norm, td_error *error) {
  if (self->n_dims < 2)
    return td_error_set(error, TD_SHAPE, "batch_norm: expected a 2D input at least, but got %dD",
                        self->n_dims);
  TD_TRY(td_op_want_floating(self, "batch_norm", error));
  TD_TRY(check_channels("running_mean", norm->running_mean, self->sizes[1], error));
  TD_TRY(check_channels("running_var", norm->running_var, self->sizes[1], error));
  TD_TRY(check_channels("weight", norm->weight, self->sizes[1], error));
  TD_TRY(check_channels("bias", norm->bias, self->sizes[1], error));
  if (norm->training || (norm->running_mean && norm->running_var)) return TD_OK;
  return td_error_set(error, TD_INVALID,
                      "Expected running_mean and running_var to be defined when training=False");
}

static void
keep(batch_norm_node *node, td_tensor *self, const td_batch_norm *norm,
     td_tensor *results[N_OPERANDS]) {
  node->training = norm->training;
  node->eps = norm->eps;
  td_op_save(&node->op, INPUT, self);
  td_op_save(&node->op, WEIGHT, norm->weight);
  td_saved_variable_init(&node->more[RUNNING_MEAN], norm->running_mean, false);
  td_saved_variable_init(&node->more[RUNNING_VAR], norm->running_var, false);
  td_op_end(&node->op, results[0]); /* the moments have no gradients */
  td_saved_variable_init(&node->more[MEAN], results[1 + MEAN], true);
  td_saved_variable_init(&node->more[INVSTD], results[1 + INVSTD], true);
}

td_status
td_op_batch_norm(td_tensor *self, const td_batch_norm *norm, td_tensor **out, td_error *error) {
  TD_LOCAL(x);
  TD_LOCAL(result);
  TD_LOCAL(mean);
  TD_LOCAL(invstd);
  TD_TRY(check(self, norm, error));
  TD_TRY(td_op_widen_contiguous(self, &x, error));
  planes p = planes_of(x);
  TD_TRY(new_result(x, true, &result, error));
  int64_t n_saved = norm->training ? p.channels : 0;
  TD_TRY(td_tensor_new_empty(p.dtype, self->device, 1, &n_saved, &mean, error));
  TD_TRY(td_tensor_new_empty(p.dtype, self->device, 1, &n_saved, &invstd, error));
  int64_t n_channels = TD_LAUNCH("batch_norm", 5, result, mean, invstd, norm->running_mean,
                                 norm->running_var, x, norm->weight, norm->bias)
                           ? p.channels
                           : 0;
  for (int64_t channel = 0; channel < n_channels; channel++)
    normalize_channel(&p, x, norm, channel, (td_tensor *[]){mean, invstd}, result);
  TD_TRY(td_op_rounded(&result, self->dtype, error));
  batch_norm_node *node =
      td_op_begin(&batch_norm_class, sizeof *node, TD_INPUTS(self, norm->weight, norm->bias));
  if (node) keep(node, self, norm, (td_tensor *[]){result, mean, invstd});
  *out = TD_TAKE(result);
  return TD_OK;
}
