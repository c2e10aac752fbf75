/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Averages over windows, whose backward is to spread, whose backward is the average again. */
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/nn/pooling_window.h"
#include "engine/torch/ops/reduction/reductions.h"

/* The places of the image that one output is the average of, along each dimension, and the number
 * that their sum is divided by. */
typedef struct region {
  int64_t first[2], end[2];
  double divisor;
} region;

/* How to find the regions: a pooling's windows, or as many of equal size as there are outputs. */
typedef struct average {
  bool adaptive;
  td_pooling pooling;
} average;

typedef struct average_node {
  td_op_node op;
  average average;
} average_node;

static region
window_region(const td_pooling *p, const td_window *w, const int64_t at[2]) {
  region r = {.divisor = 1};
  for (int i = 0; i < 2; i++) {
    int64_t first = at[i] * w->stride[i] - w->padding[i];
    int64_t end = TD_MIN(first + w->kernel[i], w->size[i] + w->padding[i]);
    r.first[i] = td_window_first(w, i, at[i]);
    r.end[i] = td_window_end(w, i, at[i]);
    r.divisor *= (double)(p->count_include_pad ? end - first : r.end[i] - r.first[i]);
  }
  if (p->divisor_override) r.divisor = (double)p->divisor_override;
  return r;
}

static region
adaptive_region(const td_window *w, const int64_t at[2]) {
  region r = {.divisor = 1};
  for (int i = 0; i < 2; i++) {
    int64_t n = w->out_size[i];
    r.first[i] = at[i] * w->size[i] / n;
    r.end[i] = ((at[i] + 1) * w->size[i] + n - 1) / n;
    r.divisor *= (double)(r.end[i] - r.first[i]);
  }
  return r;
}

/* One plane: out becomes the averages, or, going back, what each of them is due to is added to
 * image. */
#define DEFINE_AVERAGE(T)                                                                          \
  static void average_##T(const td_window *w, region r, T *image, T *out, bool back) {             \
    T sum = 0, share = !back ? 0 : *out / (T)r.divisor;                                            \
    for (int64_t y = r.first[0]; y < r.end[0]; y++)                                                \
      for (int64_t x = r.first[1]; x < r.end[1]; x++)                                              \
        if (back)                                                                                  \
          image[y * w->size[1] + x] += share;                                                      \
        else                                                                                       \
          sum += image[y * w->size[1] + x];                                                        \
    if (!back) *out = sum / (T)r.divisor;                                                          \
  }
DEFINE_AVERAGE(float)
DEFINE_AVERAGE(double)

static void
average_planes(const average *self, const td_window *w, td_tensor *image, td_tensor *out,
               bool back) {
  int64_t area = w->size[0] * w->size[1], n_out = w->out_size[0] * w->out_size[1];
  if (!TD_LAUNCH("avg_pool2d", 1, back ? image : out, back ? out : image)) return;
  for (int64_t i = 0; i < n_out; i++) {
    int64_t at[2] = {i / w->out_size[1], i % w->out_size[1]};
    region r = self->adaptive ? adaptive_region(w, at) : window_region(&self->pooling, w, at);
    for (int64_t plane = 0; plane < w->n_planes; plane++)
      if (image->dtype == TD_FLOAT32)
        average_float(w, r, (float *)td_tensor_data(image) + plane * area,
                      (float *)td_tensor_data(out) + plane * n_out + i, back);
      else
        average_double(w, r, (double *)td_tensor_data(image) + plane * area,
                       (double *)td_tensor_data(out) + plane * n_out + i, back);
  }
}

static td_status
window_of(const average *self, const td_tensor *like, td_window *w, int64_t sizes[4],
          td_error *error) {
  if (!self->adaptive) return td_window_init(w, "avg_pool2d", &self->pooling, like, sizes, error);
  td_pooling whole = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
  TD_TRY(td_window_init(w, "adaptive_avg_pool2d", &whole, like, sizes, error));
  for (int i = 0; i < 2; i++)
    sizes[like->n_dims - 2 + i] = w->out_size[i] = self->pooling.kernel[i];
  return TD_OK;
}

/* The gradient of the gradient is averaged; the image itself has no part in it. */
static td_status twice_formula(td_op_node *op, td_tensor *gg, uint32_t which, td_tensor **out,
                               td_error *error);
static const td_op_class pool_twice_class =
    TD_OP_CLASS("AvgPool2DBackwardBackward0", twice_formula);
static const td_op_class adaptive_twice_class =
    TD_OP_CLASS("AdaptiveAvgPool2DBackwardBackward0", twice_formula);

static td_status
average_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const average_node *self = (average_node *)op;
  td_window w;
  int64_t sizes[4];
  TD_LOCAL(input);
  TD_LOCAL(contiguous);
  TD_TRY(td_op_saved(op, 0, &input, error));
  TD_TRY(window_of(&self->average, input, &w, sizes, error));
  TD_TRY(td_op_widen_contiguous(grad, &contiguous, error));
  TD_TRY(td_tensor_new(contiguous->dtype, input->device, input->n_dims, input->sizes, out, error));
  average_planes(&self->average, &w, *out, contiguous, true);
  TD_TRY(td_op_rounded(out, input->dtype, error));
  const td_op_class *klass = self->average.adaptive ? &adaptive_twice_class : &pool_twice_class;
  average_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(grad, input));
  if (!node) return TD_OK;
  node->average = self->average;
  td_op_end(&node->op, *out);
  return TD_OK;
}
static const td_op_class pool_class = TD_OP_CLASS("AvgPool2DBackward0", average_formula);
static const td_op_class adaptive_class =
    TD_OP_CLASS("AdaptiveAvgPool2DBackward0", average_formula);

static td_status
average_of(const average *self, td_tensor *tensor, td_tensor **out, td_error *error) {
  td_window w;
  int64_t sizes[4];
  TD_LOCAL(contiguous);
  TD_LOCAL(result);
  TD_TRY(window_of(self, tensor, &w, sizes, error));
  TD_TRY(td_op_widen_contiguous(tensor, &contiguous, error));
  TD_TRY(td_tensor_new_empty(contiguous->dtype, tensor->device, tensor->n_dims, sizes, &result,
                             error));
  average_planes(self, &w, contiguous, result, false);
  TD_TRY(td_op_rounded(&result, tensor->dtype, error));
  const td_op_class *klass = self->adaptive ? &adaptive_class : &pool_class;
  average_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(tensor));
  if (node) {
    node->average = *self;
    td_op_save(&node->op, 0, tensor);
    td_op_end(&node->op, result);
  }
  *out = TD_TAKE(result);
  return TD_OK;
}

static td_status
twice_formula(td_op_node *op, td_tensor *gg, uint32_t which, td_tensor **out, td_error *error) {
  if (which == 1) return td_tensor_new_like(gg, out, error);
  return average_of(&((average_node *)op)->average, gg, out, error);
}

td_status
td_op_avg_pool2d(const td_pooling *pooling, td_tensor *self, td_tensor **out, td_error *error) {
  average a = {.pooling = *pooling};
  a.pooling.dilation[0] = a.pooling.dilation[1] = 1;
  return average_of(&a, self, out, error);
}

td_status
td_op_adaptive_avg_pool2d(const int64_t size[2], td_tensor *self, td_tensor **out,
                          td_error *error) {
  average a = {.adaptive = true, .pooling = {.kernel = {size[0], size[1]}}};
  if (size[0] < 0 || size[1] < 0)
    return td_error_set(
        error, TD_SHAPE,
        "adaptive_avg_pool2d: elements of output_size must be greater than or equal "
        "to 0 but received {%lld, %lld}",
        (long long)size[0], (long long)size[1]);
  if (size[0] == 1 && size[1] == 1 && self->n_dims >= 2)
    return td_op_mean_dims(self, 2, (int64_t[]){-1, -2}, true, out, error);
  return average_of(&a, self, out, error);
}
