/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Diagonals, and windows that slide along a dimension: views with unusual strides. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/indexing/indexing.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

enum { OFFSET, DIM1, DIM2 };

/* A view of the diagonal, with its sizes. */
typedef struct diagonal {
  td_sizes sizes;
  int64_t strides[TD_MAX_DIMS], offset;
  int dim1, dim2;
} diagonal;

static td_status
find_diagonal(const td_tensor *self, int64_t offset, int64_t dim1, int64_t dim2, diagonal *found,
              td_error *error) {
  TD_TRY(td_op_wrap_dim(dim1, self->n_dims, &found->dim1, error));
  TD_TRY(td_op_wrap_dim(dim2, self->n_dims, &found->dim2, error));
  if (found->dim1 == found->dim2)
    return td_error_set(error, TD_INVALID, "diagonal dimensions cannot be identical %lld, %lld",
                        (long long)dim1, (long long)dim2);
  int64_t rows = self->sizes[found->dim1], columns = self->sizes[found->dim2];
  int64_t length = offset >= 0 ? TD_MIN(rows, columns - offset) : TD_MIN(rows + offset, columns);
  int64_t first =
      offset >= 0 ? offset * self->strides[found->dim2] : -offset * self->strides[found->dim1];
  found->sizes = (td_sizes){0};
  for (int dim = 0; dim < self->n_dims; dim++) {
    if (dim == found->dim1 || dim == found->dim2) continue;
    found->strides[found->sizes.n_dims] = self->strides[dim];
    found->sizes.at[found->sizes.n_dims++] = self->sizes[dim];
  }
  found->strides[found->sizes.n_dims] = self->strides[found->dim1] + self->strides[found->dim2];
  found->sizes.at[found->sizes.n_dims++] = TD_MAX(length, 0);
  found->offset = self->offset + (length > 0 ? first : 0);
  return TD_OK;
}

static void
note(td_view_node *node, const td_sizes *self, int64_t offset, int dim1, int dim2) {
  if (!node) return;
  node->self = *self;
  node->numbers[OFFSET] = offset;
  node->numbers[DIM1] = dim1;
  node->numbers[DIM2] = dim2;
}

static td_status
diagonal_again(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const int64_t *numbers = ((td_view_node *)op)->numbers;
  return td_op_diagonal(grad, numbers[OFFSET], numbers[DIM1], numbers[DIM2], out, error);
}
static const td_op_class backward_class = TD_OP_CLASS("DiagonalBackwardBackward0", diagonal_again);
static const td_op_class embed_class = TD_OP_CLASS("DiagEmbedBackward0", diagonal_again);

/* Zeros of `sizes` with the elements of `line` on a diagonal. */
static td_status
put_on_diagonal(const td_op_class *klass, td_tensor *line, const td_sizes *sizes, int64_t offset,
                int dim1, int dim2, td_tensor **out, td_error *error) {
  diagonal place;
  TD_LOCAL(view);
  TD_TRY(td_tensor_new(line->dtype, line->device, sizes->n_dims, sizes->at, out, error));
  td_status status = find_diagonal(*out, offset, dim1, dim2, &place, error);
  if (status) td_tensor_unref(TD_TAKE(*out));
  if (status) return status;
  view = td_tensor_new_view(*out, place.sizes.n_dims, place.sizes.at, place.strides, place.offset);
  td_kernel_copy(view, line);
  td_view_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(line));
  note(node, sizes, offset, dim1, dim2);
  if (node) td_op_end(&node->op, *out);
  return TD_OK;
}

static td_status
diagonal_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                 td_error *error) {
  const td_view_node *node = (td_view_node *)op;
  return put_on_diagonal(&backward_class, grad, &node->self, node->numbers[OFFSET],
                         (int)node->numbers[DIM1], (int)node->numbers[DIM2], out, error);
}
static const td_op_class diagonal_class = TD_OP_CLASS("DiagonalBackward0", diagonal_formula);
static const td_op_class copy_class = TD_OP_CLASS("DiagonalBackward0_copy", diagonal_formula);

td_status
td_op_diagonal(td_tensor *self, int64_t offset, int64_t dim1, int64_t dim2, td_tensor **out,
               td_error *error) {
  diagonal found;
  td_sizes sizes = td_op_sizes(self);
  TD_TRY(td_op_want_dense(self, "diagonal", error));
  TD_TRY(find_diagonal(self, offset, dim1, dim2, &found, error));
  td_view_node *node =
      td_view_new(&diagonal_class, self, &found.sizes, found.strides, found.offset, out);
  note(node, &sizes, offset, found.dim1, found.dim2);
  return TD_OK;
}

td_status
td_op_diagonal_copy(td_tensor *self, int64_t offset, td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(view);
  td_sizes sizes = td_op_sizes(self);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_diagonal(bare, offset, 0, 1, &view, error));
  TD_TRY(td_op_clone(view, out, error));
  td_view_node *node = td_op_begin(&copy_class, sizeof *node, TD_INPUTS(self));
  note(node, &sizes, offset, 0, 1);
  if (node) td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_diag_embed(td_tensor *self, int64_t offset, int64_t dim1, int64_t dim2, td_tensor **out,
                 td_error *error) {
  int n_dims = self->n_dims + 1, at1, at2;
  td_sizes sizes = {.n_dims = n_dims};
  if (n_dims > TD_MAX_DIMS || self->n_dims == 0)
    return td_error_set(error, TD_SHAPE, "a tensor has 1 to %d dimensions here", TD_MAX_DIMS - 1);
  TD_TRY(td_op_wrap_dim(dim1, n_dims, &at1, error));
  TD_TRY(td_op_wrap_dim(dim2, n_dims, &at2, error));
  if (at1 == at2)
    return td_error_set(error, TD_INVALID, "diagonal dimensions cannot be identical %lld, %lld",
                        (long long)dim1, (long long)dim2);
  int64_t length = self->sizes[self->n_dims - 1] + (offset < 0 ? -offset : offset);
  for (int dim = 0, own = 0; dim < n_dims; dim++)
    sizes.at[dim] = dim == at1 || dim == at2 ? length : self->sizes[own++];
  return put_on_diagonal(&embed_class, self, &sizes, offset, at1, at2, out, error);
}

enum { DIM, SIZE, STEP };

/* Each window's gradients go back to their places. */
static td_tensor *
unfold_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  const td_view_node *node = (td_view_node *)op;
  td_tensor *sum = NULL;
  int dim = (int)node->numbers[DIM], last = grad->n_dims - 1;
  if (!c->status)
    c->status =
        td_tensor_new(grad->dtype, grad->device, node->self.n_dims, node->self.at, &sum, c->error);
  td_calc_keep(c, sum);
  for (int64_t i = 0; i < node->numbers[SIZE] && !c->status; i++) {
    td_tensor *part = NULL, *index = NULL, *next = NULL;
    c->status = td_op_select(grad, last, i, &part, c->error);
    td_calc_keep(c, part);
    if (c->status) break;
    int64_t n = part->n_dims ? part->sizes[dim] : 1;
    c->status = td_tensor_new(TD_INT64, TD_CPU, 1, &n, &index, c->error);
    td_calc_keep(c, index);
    for (int64_t j = 0; !c->status && j < n; j++)
      td_tensor_set(index, j, (double)(i + j * node->numbers[STEP]));
    if (!c->status) c->status = td_op_index_add(sum, dim, index, part, &next, c->error);
    sum = td_calc_keep(c, next);
  }
  return sum;
}
static const td_op_class unfold_class = TD_CALC_CLASS("UnfoldBackward0", unfold_calc);

td_status
td_op_unfold(td_tensor *self, int64_t dim, int64_t size, int64_t step, td_tensor **out,
             td_error *error) {
  int at;
  td_sizes sizes = td_op_sizes(self);
  int64_t strides[TD_MAX_DIMS];
  TD_TRY(td_op_want_dense(self, "unfold", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (self->n_dims == 0 || self->n_dims == TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE, "unfold: a tensor has 1 to %d dimensions here",
                        TD_MAX_DIMS - 1);
  if (size > self->sizes[at])
    return td_error_set(error, TD_INVALID,
                        "maximum size for tensor at dimension %d is %lld but size is %lld", at,
                        (long long)self->sizes[at], (long long)size);
  if (step <= 0)
    return td_error_set(error, TD_INVALID, "step is %lld but must be > 0", (long long)step);
  memcpy(strides, self->strides, sizeof strides);
  strides[sizes.n_dims] = self->strides[at];
  sizes.at[sizes.n_dims++] = size;
  sizes.at[at] = (self->sizes[at] - size) / step + 1;
  strides[at] *= step;
  td_sizes own = td_op_sizes(self);
  td_view_node *node = td_view_new(&unfold_class, self, &sizes, strides, self->offset, out);
  if (!node) return TD_OK;
  node->self = own;
  node->numbers[DIM] = at;
  node->numbers[SIZE] = size;
  node->numbers[STEP] = step;
  return TD_OK;
}
