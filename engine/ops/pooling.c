/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/convolution.h"
#include "engine/ops/op.h"

typedef struct window {
  int64_t height, width; /* of a plane of the input */
  int64_t kernel[2], stride[2], padding[2];
  int64_t out_height, out_width;
} window;

typedef struct pool_node {
  td_op_node op;
  td_input_metadata self;
} pool_node;

/* Where in the plane the largest element of output (oy, ox) is: the first of equal ones; a NaN
 * wins. */
#define DEFINE_POOL(T)                                                                             \
  static int64_t largest_##T(const window *w, const T *plane, int64_t oy, int64_t ox) {            \
    int64_t top = oy * w->stride[0] - w->padding[0], left = ox * w->stride[1] - w->padding[1];     \
    int64_t best = -1;                                                                             \
    for (int64_t y = TD_MAX(top, 0); y < TD_MIN(top + w->kernel[0], w->height); y++)               \
      for (int64_t x = TD_MAX(left, 0); x < TD_MIN(left + w->kernel[1], w->width); x++) {          \
        const T value = plane[y * w->width + x];                                                   \
        if (best < 0 || value > plane[best] || value != value) best = y * w->width + x;            \
      }                                                                                            \
    return best;                                                                                   \
  }                                                                                                \
  static void pool_##T(const window *w, const T *plane, T *out, int64_t *indices) {                \
    for (int64_t oy = 0; oy < w->out_height; oy++)                                                 \
      for (int64_t ox = 0; ox < w->out_width; ox++) {                                              \
        int64_t at = oy * w->out_width + ox;                                                       \
        indices[at] = largest_##T(w, plane, oy, ox);                                               \
        out[at] = plane[indices[at]];                                                              \
      }                                                                                            \
  }
DEFINE_POOL(float)
DEFINE_POOL(double)

static void
pool_planes(const window *w, int64_t n_planes, td_tensor *self, td_tensor *out,
            td_tensor *indices) {
  int64_t area = w->height * w->width, out_area = w->out_height * w->out_width;
  int64_t *index = td_tensor_data(indices);
  for (int64_t i = 0; i < n_planes; i++, index += out_area)
    if (self->dtype == TD_FLOAT32)
      pool_float(w, (float *)td_tensor_data(self) + i * area,
                 (float *)td_tensor_data(out) + i * out_area, index);
    else
      pool_double(w, (double *)td_tensor_data(self) + i * area,
                  (double *)td_tensor_data(out) + i * out_area, index);
}

/* Each gradient is added where its element came from. */
static td_status
pool_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_input_metadata *self = &((pool_node *)op)->self;
  TD_LOCAL(indices);
  TD_LOCAL(contiguous);
  TD_TRY(td_op_saved(op, 0, &indices, error));
  TD_TRY(td_kernel_contiguous(grad, &contiguous, error));
  TD_TRY(td_tensor_new(self->dtype, self->device, 4, self->sizes, out, error));
  int64_t n_planes = self->sizes[0] * self->sizes[1], area = self->sizes[2] * self->sizes[3];
  int64_t out_area = grad->sizes[2] * grad->sizes[3];
  const int64_t *index = td_tensor_data(indices);
  TD_DISPATCH_FLOATING(
      self->dtype, T *to = td_tensor_data(*out); const T *from = td_tensor_data(contiguous);
      for (int64_t plane = 0; plane < n_planes; plane++) for (int64_t i = 0; i < out_area; i++)
          to[plane * area + index[plane * out_area + i]] += from[plane * out_area + i];)
  td_op_end_once(*out, TD_INPUTS(grad));
  return TD_OK;
}
static const td_op_class pool_class = TD_OP_CLASS("MaxPool2DWithIndicesBackward0", pool_formula);

static td_status
make_window(td_tensor *self, const int64_t kernel[2], const int64_t stride[2],
            const int64_t padding[2], window *w, td_error *error) {
  if (self->n_dims != 4)
    return td_error_set(error, TD_SHAPE, "max_pool2d: expected a 4D input, but got %dD",
                        self->n_dims);
  TD_TRY(td_op_want_floating(self, "max_pool2d", error));
  *w = (window){.height = self->sizes[2], .width = self->sizes[3]};
  for (int i = 0; i < 2; i++) {
    if (kernel[i] <= 0 || stride[i] <= 0)
      return td_error_set(error, TD_INVALID,
                          "max_pool2d: kernel size and stride should be greater than zero");
    if (padding[i] < 0 || padding[i] > kernel[i] / 2)
      return td_error_set(error, TD_INVALID,
                          "pad should be at most half of kernel size, but got pad=%lld and "
                          "kernel_size=%lld",
                          (long long)padding[i], (long long)kernel[i]);
    w->kernel[i] = kernel[i];
    w->stride[i] = stride[i];
    w->padding[i] = padding[i];
  }
  int64_t height = w->height + 2 * padding[0] - kernel[0];
  int64_t width = w->width + 2 * padding[1] - kernel[1];
  if (height < 0 || width < 0)
    return td_error_set(error, TD_SHAPE,
                        "Given input size: (%lldx%lldx%lld). The kernel is larger than it. Output "
                        "size is too small",
                        (long long)self->sizes[1], (long long)w->height, (long long)w->width);
  w->out_height = height / stride[0] + 1;
  w->out_width = width / stride[1] + 1;
  return TD_OK;
}

td_status
td_op_max_pool2d(td_tensor *self, const int64_t kernel[2], const int64_t stride[2],
                 const int64_t padding[2], td_tensor **out, td_error *error) {
  window w = {0};
  TD_LOCAL(contiguous);
  TD_LOCAL(indices);
  TD_LOCAL(result);
  TD_TRY(make_window(self, kernel, stride, padding, &w, error));
  TD_TRY(td_kernel_contiguous(self, &contiguous, error));
  int64_t sizes[] = {self->sizes[0], self->sizes[1], w.out_height, w.out_width};
  TD_TRY(td_tensor_new_empty(TD_INT64, self->device, 4, sizes, &indices, error));
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, 4, sizes, &result, error));
  pool_planes(&w, sizes[0] * sizes[1], contiguous, result, indices);
  pool_node *node = td_op_begin(&pool_class, sizeof *node, TD_INPUTS(self));
  if (node) {
    node->self = td_op_metadata(self);
    td_op_save(&node->op, 0, indices);
    td_op_end(&node->op, result);
  }
  *out = TD_TAKE(result);
  return TD_OK;
}
