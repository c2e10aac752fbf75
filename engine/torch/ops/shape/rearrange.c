/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies with the elements elsewhere: flip, roll, repeat, tril and triu. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

static void
note_numbers(td_view_node *node, td_tensor *self, int n, const int64_t *numbers) {
  node->self = td_op_sizes(self);
  memcpy(node->numbers, numbers, (size_t)n * sizeof *numbers);
}

typedef struct flip_node {
  td_op_node op;
  int n_dims;
  int64_t dims[TD_MAX_DIMS], shifts[TD_MAX_DIMS];
} flip_node;

static td_status
flip_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  flip_node *node = (flip_node *)op;
  return td_op_flip(grad, node->n_dims, node->dims, out, error);
}
static const td_op_class flip_class = TD_OP_CLASS("FlipBackward0", flip_formula);

/* Copies with negative strides: from the last element of each reversed dimension. */
static td_status
flipped_copy(td_tensor *self, const bool *reversed, td_tensor **out, td_error *error) {
  td_tensor from = *self;
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, self->n_dims, self->sizes, out, error));
  for (int dim = 0; dim < self->n_dims; dim++) {
    if (!reversed[dim] || self->sizes[dim] == 0) continue;
    from.offset += (self->sizes[dim] - 1) * self->strides[dim];
    from.strides[dim] = -self->strides[dim];
  }
  td_kernel_copy(*out, &from);
  return TD_OK;
}

td_status
td_op_flip(td_tensor *self, int n_dims, const int64_t *dims, td_tensor **out, td_error *error) {
  bool reversed[TD_MAX_DIMS] = {false};
  TD_TRY(td_op_want_dense(self, "flip", error));
  for (int i = 0; i < n_dims; i++) {
    int dim;
    TD_TRY(td_op_wrap_dim(dims[i], self->n_dims, &dim, error));
    if (reversed[dim])
      return td_error_set(error, TD_INVALID, "dim %d appears multiple times in the list of dims",
                          dim);
    reversed[dim] = true;
  }
  TD_TRY(flipped_copy(self, reversed, out, error));
  flip_node *node = td_op_begin(&flip_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->n_dims = n_dims;
  memcpy(node->dims, dims, (size_t)n_dims * sizeof *dims);
  td_op_end(&node->op, *out);
  return TD_OK;
}

static td_status
roll_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  flip_node *node = (flip_node *)op;
  int64_t back[TD_MAX_DIMS];
  for (int i = 0; i < TD_MAX(node->n_dims, 1); i++)
    back[i] = -node->shifts[i];
  return td_op_roll(grad, TD_MAX(node->n_dims, 1), back, node->n_dims, node->dims, out, error);
}
static const td_op_class roll_class = TD_OP_CLASS("RollBackward0", roll_formula);

/* One dimension: the two pieces change places. */
static td_status
roll_dim(td_tensor *self, int64_t shift, int dim, td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, self->n_dims, self->sizes, out, error));
  int64_t n = self->sizes[dim], start = n ? ((shift % n) + n) % n : 0;
  for (int half = 0; half < 2; half++) {
    int64_t to = half ? 0 : start, from = half ? n - start : 0, length = half ? start : n - start;
    td_sizes sizes = td_op_sizes(self);
    TD_LOCAL(source);
    TD_LOCAL(target);
    sizes.at[dim] = length;
    if (length == 0) continue;
    source = td_tensor_new_view(self, sizes.n_dims, sizes.at, self->strides,
                                self->offset + from * self->strides[dim]);
    target = td_tensor_new_view(*out, sizes.n_dims, sizes.at, (*out)->strides,
                                to * (*out)->strides[dim]);
    td_kernel_copy(target, source);
  }
  return TD_OK;
}

static td_status
roll_all(td_tensor *self, int n_shifts, const int64_t *shifts, int n_dims, const int64_t *dims,
         td_tensor **out, td_error *error) {
  TD_LOCAL(now);
  TD_LOCAL(flat);
  now = td_tensor_detach(self);
  if (n_dims == 0) {
    TD_TRY(td_op_reshape(now, 1, (int64_t[]){-1}, &flat, error));
    td_tensor_unref(TD_TAKE(now));
    TD_TRY(roll_dim(flat, shifts[0], 0, &now, error));
    return td_op_own(td_op_reshape(now, self->n_dims, self->sizes, out, error), out);
  }
  for (int i = 0; i < n_dims; i++) {
    int dim;
    TD_LOCAL(next);
    TD_TRY(td_op_wrap_dim(dims[i], self->n_dims, &dim, error));
    TD_TRY(roll_dim(now, shifts[i], dim, &next, error));
    td_tensor_unref(now);
    now = TD_TAKE(next);
  }
  *out = TD_TAKE(now);
  return TD_OK;
}

td_status
td_op_roll(td_tensor *self, int n_shifts, const int64_t *shifts, int n_dims, const int64_t *dims,
           td_tensor **out, td_error *error) {
  TD_TRY(td_op_want_dense(self, "roll", error));
  if (n_shifts == 0) return td_error_set(error, TD_INVALID, "`shifts` required");
  if (n_shifts != TD_MAX(n_dims, 1))
    return td_error_set(error, TD_INVALID, "shifts and dimensions must align. shifts: %d, dims:%d",
                        n_shifts, n_dims);
  TD_TRY(roll_all(self, n_shifts, shifts, n_dims, dims, out, error));
  flip_node *node = td_op_begin(&roll_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->n_dims = n_dims;
  memcpy(node->dims, dims, (size_t)n_dims * sizeof *dims);
  memcpy(node->shifts, shifts, (size_t)n_shifts * sizeof *shifts);
  td_op_end(&node->op, *out);
  return TD_OK;
}

/* Sums over the repetitions, which a view has as dimensions of their own: [r0, s0, r1, s1 ...]. */
static td_tensor *
repeat_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_view_node *node = (td_view_node *)op;
  td_tensor *now = grad;
  int lead = grad->n_dims - node->self.n_dims;
  for (int dim = grad->n_dims - 1; dim >= 0 && !c->status; dim--) {
    if (node->numbers[dim] == 1 && dim >= lead) continue;
    td_sizes split = {0}, joined = {0};
    for (int i = 0; i < now->n_dims; i++) {
      if (i != dim) {
        split.at[split.n_dims++] = joined.at[joined.n_dims++] = now->sizes[i];
        continue;
      }
      int64_t own = dim < lead ? 1 : node->self.at[dim - lead];
      split.at[split.n_dims++] = node->numbers[dim];
      split.at[split.n_dims++] = own;
      if (dim >= lead) joined.at[joined.n_dims++] = own;
    }
    now = td_calc_reshape(c, td_calc_sum(c, td_calc_reshape(c, now, &split), dim), &joined);
  }
  return now;
}
static const td_op_class repeat_class = TD_CALC_CLASS("RepeatBackward0", repeat_calc);

/* The same number of times as a copy of a view with a dimension of stride 0 before each. */
static td_status
repeated_copy(td_tensor *self, int n_dims, const int64_t *repeats, td_tensor **out,
              td_error *error) {
  int lead = n_dims - self->n_dims;
  int64_t sizes[TD_MAX_DIMS];
  for (int dim = 0; dim < n_dims; dim++)
    sizes[dim] = repeats[dim] * (dim < lead ? 1 : self->sizes[dim - lead]);
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, n_dims, sizes, out, error));
  int64_t n = 1, index[TD_MAX_DIMS] = {0};
  for (int dim = 0; dim < n_dims; dim++)
    n *= repeats[dim];
  for (int64_t i = 0; i < n; i++) {
    int64_t offset = 0, own[TD_MAX_DIMS], rest = i;
    for (int dim = n_dims - 1; dim >= 0; rest /= repeats[dim--]) {
      own[dim] = dim < lead ? 1 : self->sizes[dim - lead];
      index[dim] = rest % repeats[dim];
      offset += index[dim] * own[dim] * (*out)->strides[dim];
    }
    TD_LOCAL(place);
    TD_LOCAL(source);
    TD_LOCAL(bare);
    place = td_tensor_new_view(*out, n_dims, own, (*out)->strides, offset);
    bare = td_tensor_detach(self);
    TD_TRY(td_op_expand(bare, n_dims, own, &source, error));
    td_kernel_copy(place, source);
  }
  return TD_OK;
}

td_status
td_op_repeat(td_tensor *self, int n_dims, const int64_t *repeats, td_tensor **out,
             td_error *error) {
  TD_TRY(td_op_want_dense(self, "repeat", error));
  if (n_dims < self->n_dims)
    return td_error_set(error, TD_SHAPE,
                        "Number of dimensions of repeat dims can not be smaller than number of "
                        "dimensions of tensor");
  TD_TRY(repeated_copy(self, n_dims, repeats, out, error));
  td_view_node *node = td_op_begin(&repeat_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  note_numbers(node, self, n_dims, repeats);
  td_op_end(&node->op, *out);
  return TD_OK;
}

/* The triangle of a triangle is the same. */
static td_status
tril_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_tril(grad, ((td_view_node *)op)->numbers[0], out, error);
}
static td_status
triu_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_triu(grad, ((td_view_node *)op)->numbers[0], out, error);
}
static const td_op_class tril_class = TD_OP_CLASS("TrilBackward0", tril_formula);
static const td_op_class triu_class = TD_OP_CLASS("TriuBackward0", triu_formula);

static void
clear_triangle(td_tensor *matrices, int64_t diagonal, bool upper) {
  int64_t rows = matrices->sizes[matrices->n_dims - 2];
  int64_t columns = matrices->sizes[matrices->n_dims - 1], n = td_tensor_n_elements(matrices);
  size_t element = td_dtype_size(matrices->dtype);
  if (!TD_LAUNCH("triangle", 1, matrices)) return;
  char *line = td_tensor_data(matrices);
  for (int64_t i = 0; i < n; i += columns, line += (size_t)columns * element) {
    int64_t end = i / columns % rows + diagonal + !upper;
    end = TD_MAX(0, TD_MIN(end, columns));
    if (upper)
      memset(line, 0, (size_t)end * element);
    else
      memset(line + (size_t)end * element, 0, (size_t)(columns - end) * element);
  }
}

static td_status
triangle(const td_op_class *klass, bool upper, td_tensor *self, int64_t diagonal, td_tensor **out,
         td_error *error) {
  TD_LOCAL(bare);
  TD_TRY(td_op_want_dense(self, upper ? "triu" : "tril", error));
  if (self->n_dims < 2)
    return td_error_set(error, TD_SHAPE, "%s: input tensor must have at least 2 dimensions",
                        upper ? "triu" : "tril");
  bare = td_tensor_detach(self);
  TD_TRY(td_op_clone(bare, out, error));
  clear_triangle(*out, diagonal, upper);
  td_view_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  note_numbers(node, self, 1, &diagonal);
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_tril(td_tensor *self, int64_t diagonal, td_tensor **out, td_error *error) {
  return triangle(&tril_class, false, self, diagonal, out, error);
}

td_status
td_op_triu(td_tensor *self, int64_t diagonal, td_tensor **out, td_error *error) {
  return triangle(&triu_class, true, self, diagonal, out, error);
}
