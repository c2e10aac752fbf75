/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pieces of a tensor that are views of it: slices and single indices. */
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

enum { DIM, START, STEP };

static td_status
slice_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  td_view_node *node = (td_view_node *)op;
  return td_op_slice_backward(grad, &node->self, (int)node->numbers[DIM], node->numbers[START],
                              node->numbers[STEP], out, error);
}
static const td_op_class slice_class = TD_OP_CLASS("SliceBackward0", slice_formula);

/* The gradient of a gradient of a slice is a slice. */
static td_status
slice_backward_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                       td_error *error) {
  td_view_node *node = (td_view_node *)op;
  int64_t dim = node->numbers[DIM], start = node->numbers[START], step = node->numbers[STEP];
  int64_t length = node->self.at[dim];
  return td_op_slice(grad, dim, start, start + length * step, step, out, error);
}
static const td_op_class slice_backward_class =
    TD_OP_CLASS("SliceBackwardBackward0", slice_backward_formula);

static void
set_numbers(td_view_node *node, int64_t dim, int64_t start, int64_t step) {
  if (!node) return;
  node->numbers[DIM] = dim;
  node->numbers[START] = start;
  node->numbers[STEP] = step;
}

td_status
td_op_slice_backward(td_tensor *grad, const td_sizes *sizes, int dim, int64_t start, int64_t step,
                     td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new(grad->dtype, grad->device, sizes->n_dims, sizes->at, out, error));
  int64_t strides[TD_MAX_DIMS];
  memcpy(strides, (*out)->strides, sizeof strides);
  strides[dim] *= step;
  TD_LOCAL(piece);
  piece =
      td_tensor_new_view(*out, grad->n_dims, grad->sizes, strides, start * (*out)->strides[dim]);
  td_kernel_copy(piece, grad);
  td_view_node *node = td_op_begin(&slice_backward_class, sizeof *node, TD_INPUTS(grad));
  if (!node) return TD_OK;
  node->self = td_op_sizes(grad);
  set_numbers(node, dim, start, step);
  td_op_end(&node->op, *out);
  return TD_OK;
}

static int64_t
clamp_index(int64_t index, int64_t low, int64_t size) {
  if (index < 0) index += size;
  return TD_MIN(TD_MAX(index, low), size);
}

td_status
td_op_slice(td_tensor *self, int64_t dim, int64_t start, int64_t end, int64_t step, td_tensor **out,
            td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_OUT_OF_RANGE, "slice() cannot be applied to a 0-dim tensor.");
  if (step <= 0) return td_error_set(error, TD_INVALID, "slice step must be positive");
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  start = clamp_index(start, 0, self->sizes[at]);
  end = clamp_index(end, start, self->sizes[at]);
  td_sizes sizes = td_op_sizes(self);
  int64_t strides[TD_MAX_DIMS];
  memcpy(strides, self->strides, sizeof strides);
  sizes.at[at] = (end - start) / step + ((end - start) % step != 0);
  strides[at] *= step;
  int64_t offset = self->offset + start * self->strides[at];
  set_numbers(td_view_new(&slice_class, self, &sizes, strides, offset, out), at, start, step);
  return TD_OK;
}

/* The gradient of a gradient of an index is that index. */
static td_status
select_backward_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                        td_error *error) {
  td_view_node *node = (td_view_node *)op;
  return td_op_select(grad, node->numbers[DIM], node->numbers[START], out, error);
}
static const td_op_class select_backward_class =
    TD_OP_CLASS("SelectBackwardBackward0", select_backward_formula);

static td_status
select_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  td_view_node *node = (td_view_node *)op;
  int64_t dim = node->numbers[DIM], index = node->numbers[START], strides[TD_MAX_DIMS];
  TD_LOCAL(place);
  TD_TRY(td_tensor_new(grad->dtype, grad->device, node->self.n_dims, node->self.at, out, error));
  td_sizes sizes = td_view_sizes_without(*out, (int)dim, strides);
  place = td_tensor_new_view(*out, sizes.n_dims, sizes.at, strides, index * (*out)->strides[dim]);
  td_kernel_copy(place, grad);
  td_view_node *back = td_op_begin(&select_backward_class, sizeof *back, TD_INPUTS(grad));
  if (!back) return TD_OK;
  set_numbers(back, dim, index, 1);
  td_op_end(&back->op, *out);
  return TD_OK;
}
static const td_op_class select_class = TD_OP_CLASS("SelectBackward0", select_formula);

td_status
td_op_select(td_tensor *self, int64_t dim, int64_t index, td_tensor **out, td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_OUT_OF_RANGE, "select() cannot be applied to a 0-dim tensor.");
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  int64_t size = self->sizes[at];
  if (index < -size || index >= size)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "index %lld is out of bounds for dimension %d with size %lld",
                        (long long)index, at, (long long)size);
  if (index < 0) index += size;
  int64_t strides[TD_MAX_DIMS];
  td_sizes sizes = td_view_sizes_without(self, at, strides);
  int64_t offset = self->offset + index * self->strides[at];
  set_numbers(td_view_new(&select_class, self, &sizes, strides, offset, out), at, index, 1);
  return TD_OK;
}

td_status
td_op_narrow(td_tensor *self, int64_t dim, int64_t start, int64_t length, td_tensor **out,
             td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_SHAPE, "narrow() cannot be applied to a 0-dim tensor.");
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (length < 0) return td_error_set(error, TD_INVALID, "narrow(): length must be non-negative.");
  int64_t size = self->sizes[at];
  if (start < -size || start > size)
    return td_error_set(
        error, TD_OUT_OF_RANGE,
        "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
        (long long)-size, (long long)size, (long long)start);
  if (start < 0) start += size;
  if (start > size - length)
    return td_error_set(error, TD_INVALID,
                        "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                        (long long)start, (long long)length, (long long)size);
  return td_op_slice(self, at, start, start + length, 1, out, error);
}
