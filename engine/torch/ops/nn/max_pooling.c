/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/pooling.h"

#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/nn/pooling_window.h"

typedef struct pool_node {
  td_op_node op;
  td_input_metadata self;
} pool_node;

/* Where in the plane the largest element of output (oy, ox) is: the first of equal ones; a NaN
 * wins. */
#define DEFINE_POOL(T)                                                                             \
  static int64_t largest_##T(const td_window *w, const T *plane, int64_t oy, int64_t ox) {         \
    int64_t top = td_window_first(w, 0, oy), left = td_window_first(w, 1, ox);                     \
    int64_t bottom = td_window_end(w, 0, oy), right = td_window_end(w, 1, ox);                     \
    int64_t best = top * w->size[1] + left;                                                        \
    for (int64_t y = top; y < bottom; y += w->dilation[0])                                         \
      for (int64_t x = left; x < right; x += w->dilation[1]) {                                     \
        const T value = plane[y * w->size[1] + x];                                                 \
        if (value > plane[best] || value != value) best = y * w->size[1] + x;                      \
      }                                                                                            \
    return best;                                                                                   \
  }                                                                                                \
  static void pool_##T(const td_window *w, const T *plane, T *out, int64_t *indices) {             \
    for (int64_t oy = 0; oy < w->out_size[0]; oy++)                                                \
      for (int64_t ox = 0; ox < w->out_size[1]; ox++) {                                            \
        int64_t at = oy * w->out_size[1] + ox;                                                     \
        indices[at] = largest_##T(w, plane, oy, ox);                                               \
        out[at] = plane[indices[at]];                                                              \
      }                                                                                            \
  }
DEFINE_POOL(float)
DEFINE_POOL(double)

static void
pool_planes(const td_window *w, td_tensor *self, td_tensor *out, td_tensor *indices) {
  int64_t area = w->size[0] * w->size[1], out_area = w->out_size[0] * w->out_size[1];
  int64_t *index = td_tensor_data(indices);
  if (!TD_LAUNCH("max_pool2d", 2, out, indices, self)) return;
  for (int64_t i = 0; i < w->n_planes; i++, index += out_area)
    if (self->dtype == TD_FLOAT32)
      pool_float(w, (float *)td_tensor_data(self) + i * area,
                 (float *)td_tensor_data(out) + i * out_area, index);
    else
      pool_double(w, (double *)td_tensor_data(self) + i * area,
                  (double *)td_tensor_data(out) + i * out_area, index);
}

static int64_t
plane_of(int n_dims, const int64_t *sizes) {
  return sizes[n_dims - 2] * sizes[n_dims - 1];
}

/* Moves elements between what pooling took and what it gave, contiguous both: forth, each gradient
 * is added where its element came from; back, each element is taken from there. */
static void
move(td_tensor *image, td_tensor *pooled, td_tensor *indices, bool back) {
  int64_t area = plane_of(image->n_dims, image->sizes);
  int64_t out_area = plane_of(pooled->n_dims, pooled->sizes);
  int64_t n_planes = out_area ? td_tensor_n_elements(pooled) / out_area : 0;
  const int64_t *index = td_tensor_data(indices);
  if (!TD_LAUNCH("max_pool2d", 1, back ? pooled : image, back ? image : pooled, indices)) return;
  TD_DISPATCH_FLOATING(image->dtype, T *plane = td_tensor_data(image);
                       T *out = td_tensor_data(pooled);
                       for (int64_t n = 0; n < n_planes;
                            n++, plane += area, out += out_area,
                            index += out_area) for (int64_t i = 0; i < out_area; i++) if (back)
                           out[i] = plane[index[i]];
                       else plane[index[i]] += out[i];)
}

/* d grad: the elements of the gradient's gradient that max_pool2d would have chosen. */
static td_status
max_twice_formula(td_op_node *op, td_tensor *gg, uint32_t which, td_tensor **out, td_error *error) {
  const td_input_metadata *grad = &((pool_node *)op)->self;
  TD_LOCAL(indices);
  TD_LOCAL(contiguous);
  if (which == 1) return td_tensor_new_like(gg, out, error);
  TD_TRY(td_op_saved(op, 0, &indices, error));
  TD_TRY(td_op_widen_contiguous(gg, &contiguous, error));
  TD_TRY(
      td_tensor_new_empty(contiguous->dtype, grad->device, grad->n_dims, grad->sizes, out, error));
  move(contiguous, *out, indices, true);
  TD_TRY(td_op_rounded(out, grad->dtype, error));
  td_op_end_once(*out, TD_INPUTS(gg));
  return TD_OK;
}
static const td_op_class max_twice_class =
    TD_OP_CLASS("MaxPool2DWithIndicesBackwardBackward0", max_twice_formula);

static td_status
max_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_input_metadata *self = &((pool_node *)op)->self;
  TD_LOCAL(indices);
  TD_LOCAL(input);
  TD_LOCAL(contiguous);
  TD_TRY(td_op_saved(op, 0, &input, error));
  TD_TRY(td_op_saved(op, 1, &indices, error));
  TD_TRY(td_op_widen_contiguous(grad, &contiguous, error));
  TD_TRY(td_tensor_new(contiguous->dtype, self->device, self->n_dims, self->sizes, out, error));
  move(*out, contiguous, indices, false);
  TD_TRY(td_op_rounded(out, self->dtype, error));
  pool_node *node = td_op_begin(&max_twice_class, sizeof *node, TD_INPUTS(grad, input));
  if (!node) return TD_OK;
  node->self = td_op_metadata(grad);
  td_op_save(&node->op, 0, indices);
  td_op_end(&node->op, *out);
  return TD_OK;
}
static const td_op_class max_class = TD_OP_CLASS("MaxPool2DWithIndicesBackward0", max_formula);

td_status
td_op_max_pool2d(const td_pooling *pooling, td_tensor *self, td_tensor **out, td_tensor **indices,
                 td_error *error) {
  td_window w;
  int64_t sizes[4];
  TD_LOCAL(contiguous);
  TD_LOCAL(places);
  TD_LOCAL(result);
  TD_TRY(td_window_init(&w, "max_pool2d", pooling, self, sizes, error));
  TD_TRY(td_op_widen_contiguous(self, &contiguous, error));
  TD_TRY(td_tensor_new_empty(TD_INT64, self->device, self->n_dims, sizes, &places, error));
  TD_TRY(td_tensor_new_empty(contiguous->dtype, self->device, self->n_dims, sizes, &result, error));
  pool_planes(&w, contiguous, result, places);
  TD_TRY(td_op_rounded(&result, self->dtype, error));
  pool_node *node = td_op_begin(&max_class, sizeof *node, TD_INPUTS(self));
  if (node) {
    node->self = td_op_metadata(self);
    td_op_save(&node->op, 0, self);
    td_op_save(&node->op, 1, places);
    td_op_end(&node->op, result);
  }
  *out = TD_TAKE(result);
  if (indices) *indices = TD_TAKE(places);
  return TD_OK;
}
