/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * matmul and linear: compositions that make the nodes of PyTorch, in its order (seen on 1.13.1 and
 * 2.13.0). */
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

#include "engine/torch/graph/semantics.h"

/* [k] x [k, m] */
static td_status
vector_matrix(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  TD_LOCAL(row);
  TD_LOCAL(product);
  TD_TRY(td_op_unsqueeze(self, 0, &row, error));
  TD_TRY(td_op_mm(row, other, &product, error));
  return td_op_squeeze_in_place(product, 0, out, error);
}

/* A batch of matrices times one matrix or vector is one product with the batch folded into the
 * rows, unless the batch's matrices are transposed in memory: then folding would copy. */
static bool
should_fold(const td_tensor *many, const td_tensor *one) {
  if (many->n_dims < 3 || one->n_dims > 2) return false;
  bool transposed = many->n_dims == 3 && one->n_dims == 2 && many->strides[2] != 1 &&
                    many->strides[0] == many->sizes[1] * many->sizes[2];
  return !transposed;
}

/* many [..., k] x one [k] or [k, m] */
static td_status
folded(td_tensor *many, td_tensor *one, td_tensor **out, td_error *error) {
  TD_LOCAL(rows);
  TD_LOCAL(product);
  td_sizes sizes = td_op_sizes(many);
  int64_t k = sizes.at[--sizes.n_dims], n = 1;
  for (int dim = 0; dim < sizes.n_dims; dim++)
    n *= sizes.at[dim];
  if (one->n_dims == 2) sizes.at[sizes.n_dims++] = one->sizes[1];
  TD_TRY(td_op_reshape(many, 2, (int64_t[]){n, k}, &rows, error));
  if (one->n_dims == 2)
    TD_TRY(td_op_mm(rows, one, &product, error));
  else
    TD_TRY(td_op_mv(rows, one, &product, error));
  return td_op_unsafe_view(product, sizes.n_dims, sizes.at, out, error);
}

/* one [k] or [n, k] x many [..., k, m], by transposing both. */
static td_status
folded_transposed(td_tensor *one, td_tensor *many, td_tensor **out, td_error *error) {
  TD_LOCAL(many_t);
  TD_LOCAL(one_t);
  TD_LOCAL(product);
  TD_LOCAL(product_t);
  TD_TRY(td_op_transpose(many, -2, -1, &many_t, error));
  if (one->n_dims == 1) return folded(many_t, one, out, error);
  TD_TRY(td_op_t(one, &one_t, error));
  TD_TRY(folded(many_t, one_t, &product, error));
  TD_TRY(td_op_transpose(product, -2, -1, &product_t, error));
  return td_op_contiguous(product_t, out, error);
}

/* Repeats the batch dimensions and flattens them into one. */
static td_status
to_batch(td_tensor *self, const td_sizes *batch, int64_t n_batches, td_tensor **out,
         td_error *error) {
  TD_LOCAL(expanded);
  td_sizes sizes = *batch;
  int64_t rows = self->sizes[self->n_dims - 2], columns = self->sizes[self->n_dims - 1];
  sizes.at[sizes.n_dims++] = rows;
  sizes.at[sizes.n_dims++] = columns;
  TD_TRY(td_op_expand(self, sizes.n_dims, sizes.at, &expanded, error));
  return td_op_reshape(expanded, 3, (int64_t[]){n_batches, rows, columns}, out, error);
}

/* [..., n, k] x [..., k, m] with broadcast batches */
static td_status
batched(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  TD_LOCAL(left);
  TD_LOCAL(right);
  TD_LOCAL(product);
  td_sizes a = td_op_sizes(self), b = td_op_sizes(other), batch;
  a.n_dims -= 2;
  b.n_dims -= 2;
  TD_TRY(td_op_broadcast(&a, &b, &batch, error));
  int64_t n_batches = 1;
  for (int dim = 0; dim < batch.n_dims; dim++)
    n_batches *= batch.at[dim];
  TD_TRY(to_batch(self, &batch, n_batches, &left, error));
  TD_TRY(to_batch(other, &batch, n_batches, &right, error));
  TD_TRY(td_op_bmm(left, right, &product, error));
  td_sizes sizes = batch;
  sizes.at[sizes.n_dims++] = self->sizes[self->n_dims - 2];
  sizes.at[sizes.n_dims++] = other->sizes[other->n_dims - 1];
  return td_op_unsafe_view(product, sizes.n_dims, sizes.at, out, error);
}

td_status
td_op_matmul(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  int left = self->n_dims, right = other->n_dims;
  if (left == 0 || right == 0)
    return td_error_set(error, TD_SHAPE,
                        "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                        left, right);
  if (left == 1 && right == 1) return td_op_dot(self, other, out, error);
  if (left == 2 && right == 1) return td_op_mv(self, other, out, error);
  if (left == 1 && right == 2) return vector_matrix(self, other, out, error);
  if (left == 2 && right == 2) return td_op_mm(self, other, out, error);
  if (should_fold(self, other)) return folded(self, other, out, error);
  if (should_fold(other, self)) return folded_transposed(self, other, out, error);
  return batched(self, other, out, error);
}

/* PyTorch 1 makes one product of three dimensions alone. */
static bool
is_flattened(const td_tensor *input) {
  bool of_version = td_policy(plain_names) ? input->n_dims != 2 : input->n_dims == 3;
  return of_version && input->n_dims > 0 && td_tensor_is_contiguous(input);
}

/* [..., k]: all dimensions but the last are one for addmm. The compiler of PyTorch 1 evaluated
 * weight.t() before the view beside it. */
static td_status
linear_flat(td_tensor *input, td_tensor *weight, td_tensor *bias, td_tensor **out,
            td_error *error) {
  TD_LOCAL(rows);
  TD_LOCAL(weight_t);
  TD_LOCAL(product);
  td_sizes sizes = td_op_sizes(input);
  int64_t k = sizes.at[sizes.n_dims - 1], n = 1;
  for (int dim = 0; dim < sizes.n_dims - 1; dim++)
    n *= sizes.at[dim];
  if (!td_policy(plain_names)) TD_TRY(td_op_t(weight, &weight_t, error));
  TD_TRY(td_op_view(input, 2, (int64_t[]){n, k}, &rows, error));
  if (td_policy(plain_names)) TD_TRY(td_op_t(weight, &weight_t, error));
  TD_TRY(td_op_addmm(bias, rows, weight_t, &product, error));
  sizes.at[sizes.n_dims - 1] = product->sizes[1];
  return td_policy(unsafe_view_of_linear)
             ? td_op_unsafe_view(product, sizes.n_dims, sizes.at, out, error)
             : td_op_view(product, sizes.n_dims, sizes.at, out, error);
}

td_status
td_op_linear(td_tensor *input, td_tensor *weight, td_tensor *bias, td_tensor **out,
             td_error *error) {
  TD_LOCAL(weight_t);
  TD_LOCAL(product);
  if (bias && is_flattened(input)) return linear_flat(input, weight, bias, out, error);
  TD_TRY(td_op_t(weight, &weight_t, error));
  if (input->n_dims == 2 && bias) return td_op_addmm(bias, input, weight_t, out, error);
  TD_TRY(td_op_matmul(input, weight_t, &product, error));
  if (bias) return td_op_add(product, bias, 1, out, error);
  *out = TD_TAKE(product);
  return TD_OK;
}
