/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/reduce.h"

#include "engine/ops/op.h"

typedef struct reduce_node {
  td_op_node op;
  td_input_metadata self;
  td_sizes kept;   /* of the result with its reduced dimensions as 1 */
  int64_t divisor; /* 1, or the number of elements that make one mean */
} reduce_node;

/* r = sum x (or its mean):  dx = dr repeated (times 1 / n) */
static td_status
reduce_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  reduce_node *node = (reduce_node *)op;
  TD_LOCAL(kept);
  TD_LOCAL(expanded);
  TD_TRY(td_op_reshape(grad, node->kept.n_dims, node->kept.at, &kept, error));
  TD_TRY(td_op_expand(kept, node->self.n_dims, node->self.sizes, &expanded, error));
  if (node->divisor == 1) return td_op_to_dtype(expanded, node->self.dtype, out, error);
  TD_LOCAL(divisor);
  divisor = td_op_scalar(grad, (double)node->divisor, false);
  return td_op_div(expanded, divisor, out, error);
}
static const td_op_class sum_class = TD_OP_CLASS("SumBackward0", reduce_formula);
static const td_op_class sum_dims_class = TD_OP_CLASS("SumBackward1", reduce_formula);
static const td_op_class mean_class = TD_OP_CLASS("MeanBackward0", reduce_formula);
static const td_op_class mean_dims_class = TD_OP_CLASS("MeanBackward1", reduce_formula);

typedef struct reduction {
  const td_op_class *klass;
  bool is_mean, keepdim;
  bool reduced[TD_MAX_DIMS];
} reduction;

static td_status
mark_dims(const td_tensor *self, int n_dims, const int64_t *dims, bool *reduced, td_error *error) {
  for (int dim = 0; dim < TD_MAX_DIMS; dim++)
    reduced[dim] = n_dims == 0;
  for (int i = 0; i < n_dims; i++) {
    int dim;
    TD_TRY(td_op_wrap_dim(dims[i], self->n_dims, &dim, error));
    if (reduced[dim])
      return td_error_set(error, TD_INVALID, "dim %d appears multiple times in the list of dims",
                          dim);
    reduced[dim] = true;
  }
  return TD_OK;
}

/* Sizes with the reduced dimensions as 1, without them, and how many elements make one. */
static int64_t
reduced_sizes(const td_tensor *self, const reduction *how, td_sizes *kept, td_sizes *result) {
  int64_t count = 1;
  kept->n_dims = self->n_dims;
  result->n_dims = 0;
  for (int dim = 0; dim < self->n_dims; dim++) {
    kept->at[dim] = how->reduced[dim] ? 1 : self->sizes[dim];
    if (how->reduced[dim]) count *= self->sizes[dim];
    if (!how->reduced[dim] || how->keepdim) result->at[result->n_dims++] = kept->at[dim];
  }
  return count;
}

static void
divide(td_tensor *tensor, int64_t count) {
  int64_t n = TD_LAUNCH("divide", 1, tensor) ? td_tensor_n_elements(tensor) : 0;
  TD_DISPATCH_FLOATING(tensor->dtype, T *x = td_tensor_data(tensor);
                       for (int64_t i = 0; i < n; i++) x[i] /= (T)count;)
}

/* A view of a contiguous tensor with other sizes of as many elements. */
static td_tensor *
view_contiguous(const td_tensor *tensor, const td_sizes *sizes) {
  int64_t strides[TD_MAX_DIMS], stride = 1;
  for (int dim = sizes->n_dims - 1; dim >= 0; stride *= sizes->at[dim--])
    strides[dim] = stride;
  return td_tensor_new_view(tensor, sizes->n_dims, sizes->at, strides, tensor->offset);
}

static td_status
reduce(td_tensor *self, const reduction *how, td_tensor **out, td_error *error) {
  td_sizes kept, sizes;
  int64_t count = reduced_sizes(self, how, &kept, &sizes);
  td_dtype dtype = td_dtype_is_floating(self->dtype) ? self->dtype : TD_INT64;
  TD_LOCAL(cast);
  TD_LOCAL(view);
  if (how->is_mean) TD_TRY(td_op_want_averageable(self, error));
  TD_TRY(td_kernel_cast(self, dtype, &cast, error));
  TD_TRY(td_tensor_new(dtype, self->device, sizes.n_dims, sizes.at, out, error));
  view = view_contiguous(*out, &kept);
  td_kernel_sum_into(view, cast);
  if (how->is_mean) divide(*out, count);
  reduce_node *node = td_op_begin(how->klass, sizeof *node, TD_INPUTS(self));
  if (node) {
    node->self = td_op_metadata(self);
    node->kept = kept;
    node->divisor = how->is_mean ? count : 1;
    td_op_end(&node->op, *out);
  }
  return TD_OK;
}

td_status
td_op_sum(td_tensor *self, td_tensor **out, td_error *error) {
  reduction how = {.klass = &sum_class};
  TD_TRY(mark_dims(self, 0, NULL, how.reduced, error));
  return reduce(self, &how, out, error);
}

td_status
td_op_mean(td_tensor *self, td_tensor **out, td_error *error) {
  reduction how = {.klass = &mean_class, .is_mean = true};
  TD_TRY(mark_dims(self, 0, NULL, how.reduced, error));
  return reduce(self, &how, out, error);
}

td_status
td_op_sum_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
               td_error *error) {
  reduction how = {.klass = &sum_dims_class, .keepdim = keepdim};
  TD_TRY(mark_dims(self, n_dims, dims, how.reduced, error));
  return reduce(self, &how, out, error);
}

td_status
td_op_mean_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
                td_error *error) {
  reduction how = {.klass = &mean_dims_class, .is_mean = true, .keepdim = keepdim};
  TD_TRY(mark_dims(self, n_dims, dims, how.reduced, error));
  return reduce(self, &how, out, error);
}
