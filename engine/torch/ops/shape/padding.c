/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Padding: elements are added, or taken away, at both ends of the last dimensions. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/shape/shape.h"

#include "engine/torch/ops/shape/padding.h"

typedef struct pad_node {
  td_op_node op;
  td_input_metadata self;
  int n;
  int64_t pads[2 * TD_MAX_DIMS];
  td_padding mode;
} pad_node;

/* Which element of a line of n elements stands at place i of the padded one. */
static int64_t
source_of(td_padding mode, int64_t i, int64_t before, int64_t n) {
  int64_t at = i - before;
  if (mode == TD_PADDING_REPLICATE) return at < 0 ? 0 : at >= n ? n - 1 : at;
  if (at < 0) at = -at;
  return at >= n ? 2 * (n - 1) - at : at;
}

/* The sizes afterwards. */
static td_status
padded_sizes(const td_tensor *self, int n, const int64_t *pads, td_sizes *sizes, td_error *error) {
  *sizes = td_op_sizes(self);
  for (int i = 0; i < n / 2; i++) {
    int dim = self->n_dims - 1 - i;
    sizes->at[dim] += pads[2 * i] + pads[2 * i + 1];
    if (sizes->at[dim] < 0)
      return td_error_set(error, TD_INVALID,
                          "The input size %lld, plus negative padding %lld and %lld, resulted in "
                          "a negative output size, which is invalid. Check dimension %d of your "
                          "input.",
                          (long long)self->sizes[dim], (long long)pads[2 * i],
                          (long long)pads[2 * i + 1], dim);
  }
  return TD_OK;
}

/* The part of a tensor that padding by `pads` keeps, or that it fills in the padded one. */
static td_tensor *
inside(td_tensor *tensor, int n, const int64_t *pads, int sign) {
  td_sizes sizes = td_op_sizes(tensor);
  int64_t offset = tensor->offset;
  for (int i = 0; i < n / 2; i++) {
    int dim = tensor->n_dims - 1 - i;
    int64_t before = TD_MAX(0, sign * pads[2 * i]), after = TD_MAX(0, sign * pads[2 * i + 1]);
    offset += before * tensor->strides[dim];
    sizes.at[dim] = TD_MAX(0, sizes.at[dim] - before - after);
  }
  return td_tensor_new_view(tensor, sizes.n_dims, sizes.at, tensor->strides, offset);
}

static td_status
constant_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                 td_error *error) {
  const pad_node *node = (pad_node *)op;
  int64_t back[2 * TD_MAX_DIMS];
  for (int i = 0; i < node->n; i++)
    back[i] = -node->pads[i];
  return td_op_constant_pad(grad, node->n, back, 0, out, error);
}
static const td_op_class constant_class = TD_OP_CLASS("ConstantPadNdBackward0", constant_formula);

static void
give_node(const td_op_class *klass, td_tensor *self, td_padding mode, int n, const int64_t *pads,
          td_tensor *result) {
  pad_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return;
  node->self = td_op_metadata(self);
  node->n = n;
  node->mode = mode;
  memcpy(node->pads, pads, (size_t)n * sizeof *pads);
  td_op_end(&node->op, result);
}

static td_status
check_pads(const td_tensor *self, int n, td_error *error) {
  if (n % 2) return td_error_set(error, TD_INVALID, "Padding length must be divisible by 2");
  if (n / 2 > self->n_dims)
    return td_error_set(error, TD_INVALID,
                        "Length of pad should be no more than twice the number of dimensions of "
                        "the input. Pad length is %d while the input has %d dimensions.",
                        n, self->n_dims);
  return TD_OK;
}

td_status
td_op_constant_pad(td_tensor *self, int n, const int64_t *pads, double value, td_tensor **out,
                   td_error *error) {
  td_sizes sizes;
  TD_LOCAL(from);
  TD_LOCAL(to);
  TD_TRY(td_op_want_dense(self, "constant_pad_nd", error));
  TD_TRY(check_pads(self, n, error));
  TD_TRY(padded_sizes(self, n, pads, &sizes, error));
  TD_TRY(td_tensor_new(self->dtype, self->device, sizes.n_dims, sizes.at, out, error));
  if (value != 0) td_kernel_fill(*out, value);
  from = inside(self, n, pads, -1);
  to = inside(*out, n, pads, 1);
  td_kernel_copy(to, from);
  give_node(&constant_class, self, TD_PADDING_CONSTANT, n, pads, *out);
  return TD_OK;
}

/* Moves elements between a line of `outer` and one of `inner`, along one dimension. */
static void
move_lines(td_tensor *outer, td_tensor *inner, int dim, td_padding mode, int64_t before,
           bool adds) {
  int64_t n = outer->sizes[dim], n_inner = inner->sizes[dim];
  int64_t outer_step = outer->strides[dim], inner_step = inner->strides[dim];
  td_tensor *written = adds ? inner : outer, *read = adds ? outer : inner;
  td_walk walk;
  td_walk_init_lines(&walk, dim, 2, (const td_tensor *[]){written, read});
  int of_outer = adds ? 1 : 0, of_inner = 1 - of_outer;
  TD_DISPATCH_ALL(
      outer->dtype, while (td_walk_row(&walk)) for (int64_t l = 0; l < walk.n; l++) {
        T *far = (T *)walk.at[of_outer] + l * walk.step[of_outer];
        T *near = (T *)walk.at[of_inner] + l * walk.step[of_inner];
        for (int64_t i = 0; i < n; i++) {
          T *place = near + source_of(mode, i, before, n_inner) * inner_step;
          if (adds)
            *place += far[i * outer_step];
          else
            far[i * outer_step] = *place;
        }
      })
}

/* Pads dimension by dimension, or sums the gradient back. */
static td_status
pad_lines(td_tensor *self, td_padding mode, int n, const int64_t *pads, bool back, td_tensor **out,
          td_error *error) {
  TD_LOCAL(now);
  TD_LOCAL(bare);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_widen(bare, &now, error));
  for (int i = 0; i < n / 2; i++) {
    td_sizes sizes = td_op_sizes(now);
    int dim = self->n_dims - 1 - i;
    TD_LOCAL(next);
    sizes.at[dim] += (back ? -1 : 1) * (pads[2 * i] + pads[2 * i + 1]);
    TD_TRY(td_tensor_new(now->dtype, now->device, sizes.n_dims, sizes.at, &next, error));
    move_lines(back ? now : next, back ? next : now, dim, mode, pads[2 * i], back);
    td_tensor_unref(now);
    now = TD_TAKE(next);
  }
  *out = TD_TAKE(now);
  return td_op_rounded(out, self->dtype, error);
}

static td_status
pad_again(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const pad_node *node = (pad_node *)op;
  return td_op_pad(grad, node->mode, node->n, node->pads, out, error);
}

static td_status pad_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                             td_error *error);
#define CLASSES(kind, dims)                                                                        \
  {                                                                                                \
    TD_OP_CLASS(#kind "Pad" dims "Backward0", pad_formula),                                        \
        TD_OP_CLASS(#kind "Pad" dims "BackwardBackward0", pad_again)                               \
  }
static const td_op_class classes[2][3][2] = {
    {CLASSES(Reflection, "1D"), CLASSES(Reflection, "2D"), CLASSES(Reflection, "3D")},
    {CLASSES(Replication, "1D"), CLASSES(Replication, "2D"), CLASSES(Replication, "3D")}};

static const td_op_class *
class_of(td_padding mode, int n, bool back) {
  return &classes[mode == TD_PADDING_REPLICATE][n / 2 - 1][back];
}

static td_status
pad_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const pad_node *node = (pad_node *)op;
  TD_TRY(pad_lines(grad, node->mode, node->n, node->pads, true, out, error));
  give_node(class_of(node->mode, node->n, true), grad, node->mode, node->n, node->pads, *out);
  return TD_OK;
}

td_status
td_op_pad(td_tensor *self, td_padding mode, int n, const int64_t *pads, td_tensor **out,
          td_error *error) {
  td_sizes sizes;
  TD_TRY(td_op_want_dense(self, "pad", error));
  TD_TRY(check_pads(self, n, error));
  TD_TRY(padded_sizes(self, n, pads, &sizes, error));
  for (int i = 0; mode == TD_PADDING_REFLECT && i < n; i++)
    if (pads[i] >= self->sizes[self->n_dims - 1 - i / 2]) {
      char *shape = td_tensor_shape_text(self);
      td_error_set(error, TD_INVALID,
                   "Argument #4: Padding size should be less than the corresponding input "
                   "dimension, but got: padding (%lld, %lld) at dimension %d of input %s",
                   (long long)pads[i / 2 * 2], (long long)pads[i / 2 * 2 + 1],
                   self->n_dims - 1 - i / 2, shape);
      free(shape);
      return TD_INVALID;
    }
  TD_TRY(pad_lines(self, mode, n, pads, false, out, error));
  give_node(class_of(mode, n, false), self, mode, n, pads, *out);
  return TD_OK;
}
