/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Views with the dimensions in another order. */
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

static td_status
transpose_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                  td_error *error) {
  td_view_node *node = (td_view_node *)op;
  return td_op_transpose(grad, node->numbers[0], node->numbers[1], out, error);
}
static const td_op_class transpose_class = TD_OP_CLASS("TransposeBackward0", transpose_formula);

static td_status
t_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_t(grad, out, error);
}
static const td_op_class t_class = TD_OP_CLASS("TBackward0", t_formula);

static td_view_node *
transpose(const td_op_class *klass, td_tensor *self, int dim0, int dim1, td_tensor **out) {
  td_sizes sizes = td_op_sizes(self);
  int64_t strides[TD_MAX_DIMS];
  memcpy(strides, self->strides, sizeof strides);
  if (self->n_dims > 0) {
    sizes.at[dim0] = self->sizes[dim1];
    sizes.at[dim1] = self->sizes[dim0];
    strides[dim0] = self->strides[dim1];
    strides[dim1] = self->strides[dim0];
  }
  return td_view_new(klass, self, &sizes, strides, self->offset, out);
}

td_status
td_op_t(td_tensor *self, td_tensor **out, td_error *error) {
  if (self->n_dims > 2)
    return td_error_set(error, TD_SHAPE,
                        "t() expects a tensor with <= 2 dimensions, but self is %dD", self->n_dims);
  transpose(&t_class, self, 0, self->n_dims == 2 ? 1 : 0, out);
  return TD_OK;
}

td_status
td_op_transpose(td_tensor *self, int64_t dim0, int64_t dim1, td_tensor **out, td_error *error) {
  int first, second;
  TD_TRY(td_op_wrap_dim(dim0, self->n_dims, &first, error));
  TD_TRY(td_op_wrap_dim(dim1, self->n_dims, &second, error));
  td_view_node *node = transpose(&transpose_class, self, first, second, out);
  if (node) {
    node->numbers[0] = first;
    node->numbers[1] = second;
  }
  return TD_OK;
}

static td_status
permute_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  td_view_node *node = (td_view_node *)op;
  int64_t inverse[TD_MAX_DIMS];
  for (int dim = 0; dim < grad->n_dims; dim++)
    inverse[node->numbers[dim]] = dim;
  return td_op_permute(grad, grad->n_dims, inverse, out, error);
}
static const td_op_class permute_class = TD_OP_CLASS("PermuteBackward0", permute_formula);

td_status
td_op_permute(td_tensor *self, int n_dims, const int64_t *dims, td_tensor **out, td_error *error) {
  td_sizes sizes = {.n_dims = n_dims};
  int64_t strides[TD_MAX_DIMS], order[TD_MAX_DIMS];
  bool taken[TD_MAX_DIMS] = {false};
  if (n_dims != self->n_dims)
    return td_error_set(error, TD_SHAPE,
                        "permute(sparse_coo): number of dimensions in the tensor input does not "
                        "match the length of the desired ordering of dimensions i.e. input.dim() = "
                        "%d is not equal to len(dims) = %d",
                        self->n_dims, n_dims);
  for (int i = 0; i < n_dims; i++) {
    int dim;
    TD_TRY(td_op_wrap_dim(dims[i], n_dims, &dim, error));
    if (taken[dim])
      return td_error_set(error, TD_INVALID, "permute(): duplicate dims are not allowed.");
    taken[dim] = true;
    order[i] = dim;
    sizes.at[i] = self->sizes[dim];
    strides[i] = self->strides[dim];
  }
  td_view_node *node = td_view_new(&permute_class, self, &sizes, strides, self->offset, out);
  if (node) memcpy(node->numbers, order, (size_t)n_dims * sizeof *order);
  return TD_OK;
}

td_status
td_op_movedim(td_tensor *self, int n, const int64_t *from, const int64_t *to, td_tensor **out,
              td_error *error) {
  int64_t order[TD_MAX_DIMS];
  bool placed[TD_MAX_DIMS] = {false}, moved[TD_MAX_DIMS] = {false};
  for (int i = 0; i < n; i++) {
    int source, target;
    TD_TRY(td_op_wrap_dim(from[i], self->n_dims, &source, error));
    TD_TRY(td_op_wrap_dim(to[i], self->n_dims, &target, error));
    if (moved[source] || placed[target])
      return td_error_set(error, TD_INVALID, "movedim: repeated dim in `%s`",
                          moved[source] ? "source" : "destination");
    order[target] = source;
    placed[target] = moved[source] = true;
  }
  for (int target = 0, source = 0; target < self->n_dims; target++) {
    if (placed[target]) continue;
    while (moved[source])
      source++;
    order[target] = source++;
  }
  return td_op_permute(self, self->n_dims, order, out, error);
}
