/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Complex numbers as pairs of real ones, and back: views with another dtype. */
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

static td_status
real_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(whole);
  TD_TRY(td_op_contiguous(grad, &whole, error));
  return td_op_view_as_complex(whole, out, error);
}
static const td_op_class real_class = TD_OP_CLASS("ViewAsRealBackward0", real_formula);

td_status
td_op_view_as_real(td_tensor *self, td_tensor **out, td_error *error) {
  int64_t strides[TD_MAX_DIMS];
  td_sizes sizes = td_op_sizes(self);
  if (!td_dtype_is_complex(self->dtype))
    return td_error_set(error, TD_DTYPE, "view_as_real is only supported for complex tensors");
  if (self->n_dims == TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE, "view_as_real: at most %d dimensions", TD_MAX_DIMS);
  for (int dim = 0; dim < self->n_dims; dim++)
    strides[dim] = self->strides[dim] * 2;
  strides[sizes.n_dims] = 1;
  sizes.at[sizes.n_dims++] = 2;
  td_view_new_as(&real_class, self, td_dtype_real(self->dtype), &sizes, strides, self->offset * 2,
                 out);
  return TD_OK;
}

static td_status
complex_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(whole);
  TD_TRY(td_op_contiguous(grad, &whole, error));
  return td_op_view_as_real(whole, out, error);
}
static const td_op_class complex_class = TD_OP_CLASS("ViewAsComplexBackward0", complex_formula);

static td_status
check_pairs(const td_tensor *self, td_error *error) {
  int last = self->n_dims - 1;
  if (!td_dtype_is_floating(self->dtype) || td_dtype_is_half(self->dtype)) /* no complex32 */
    return td_error_set(error, TD_DTYPE,
                        "view_as_complex is only supported for half, float and double tensors, but "
                        "got a tensor of scalar type: %s",
                        td_op_scalar_type(self->dtype));
  if (last < 0)
    return td_error_set(error, TD_SHAPE, "Input tensor must have one or more dimensions");
  if (self->sizes[last] != 2)
    return td_error_set(error, TD_SHAPE, "Tensor must have a last dimension of size 2");
  if (self->strides[last] != 1)
    return td_error_set(error, TD_SHAPE, "Tensor must have a last dimension with stride 1");
  for (int dim = 0; dim < last; dim++)
    if (self->strides[dim] % 2)
      return td_error_set(error, TD_SHAPE,
                          "Tensor must have a stride divisible by 2 for all but last dimension");
  if (self->offset % 2)
    return td_error_set(error, TD_SHAPE, "Tensor must have a storage_offset divisible by 2");
  return TD_OK;
}

td_status
td_op_view_as_complex(td_tensor *self, td_tensor **out, td_error *error) {
  int64_t strides[TD_MAX_DIMS];
  td_sizes sizes = td_op_sizes(self);
  TD_TRY(check_pairs(self, error));
  sizes.n_dims--;
  for (int dim = 0; dim < sizes.n_dims; dim++)
    strides[dim] = self->strides[dim] / 2;
  td_dtype dtype = self->dtype == TD_FLOAT32 ? TD_COMPLEX64 : TD_COMPLEX128;
  td_view_new_as(&complex_class, self, dtype, &sizes, strides, self->offset / 2, out);
  return TD_OK;
}

td_status
td_op_view_like(td_tensor *self, td_dtype dtype, td_tensor **out, td_error *error) {
  if (self->dtype == dtype) {
    *out = td_tensor_ref(self);
    return TD_OK;
  }
  return td_dtype_is_complex(self->dtype) ? td_op_view_as_real(self, out, error)
                                          : td_op_view_as_complex(self, out, error);
}

static td_status
part(td_tensor *self, int64_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(parts);
  TD_TRY(td_op_view_as_real(self, &parts, error));
  return td_op_select(parts, -1, which, out, error);
}

td_status
td_op_real(td_tensor *self, td_tensor **out, td_error *error) {
  if (td_dtype_is_complex(self->dtype)) return part(self, 0, out, error);
  *out = td_tensor_ref(self);
  return TD_OK;
}

td_status
td_op_imag(td_tensor *self, td_tensor **out, td_error *error) {
  return part(self, 1, out, error);
}
