/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cutting one tensor into several views: nodes with an input per piece. */
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"
#include "engine/torch/pass/exec_info.h"

typedef struct cut_node {
  td_node node;
  int dim;
} cut_node;

/* A piece's gradient, or zeros where no gradient came for it. */
static td_status
piece_gradient(const cut_node *node, uint32_t i, td_tensor *grad, td_tensor **out,
               td_error *error) {
  if (grad) {
    *out = td_tensor_ref(grad);
    return TD_OK;
  }
  const td_input_metadata *piece = &node->node.input_metadata[i];
  return td_tensor_new(piece->dtype, piece->device, piece->n_dims, piece->sizes, out, error);
}

static bool
any_is_there(uint32_t n, td_tensor *const *gradients) {
  for (uint32_t i = 0; i < n; i++)
    if (gradients[i]) return true;
  return false;
}

typedef td_status (*join)(uint32_t n, td_tensor *const *tensors, int64_t dim, td_tensor **out,
                          td_error *error);

static td_status
put_together(td_node *node, td_tensor *const *inputs, td_tensor **outputs, join op,
             td_error *error) {
  const cut_node *cut = (cut_node *)node;
  outputs[0] = NULL;
  if (!td_needs_gradient(node, 0) || !any_is_there(node->n_inputs, inputs)) return TD_OK;
  td_tensor **pieces = TD_NEW_N(td_tensor *, node->n_inputs);
  td_status status = TD_OK;
  for (uint32_t i = 0; i < node->n_inputs && status == TD_OK; i++)
    status = piece_gradient(cut, i, inputs[i], &pieces[i], error);
  if (status == TD_OK) status = op(node->n_inputs, pieces, cut->dim, outputs, error);
  for (uint32_t i = 0; i < node->n_inputs; i++)
    td_tensor_unref(pieces[i]);
  free(pieces);
  return status;
}

static td_status
cut_backward(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  return put_together(node, inputs, outputs, td_op_cat, error);
}

static td_status
unbind_backward(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  return put_together(node, inputs, outputs, td_op_stack, error);
}

static const td_node_class split_class = {.name = "SplitBackward0", .apply = cut_backward};
static const td_node_class unsafe_class = {.name = "UnsafeSplitBackward0", .apply = cut_backward};
static const td_node_class sizes_class = {.name = "SplitWithSizesBackward0", .apply = cut_backward};
static const td_node_class unsafe_sizes_class = {.name = "UnsafeSplitWithSizesBackward0",
                                                 .apply = cut_backward};
static const td_node_class unbind_class = {.name = "UnbindBackward0", .apply = unbind_backward};

/* A write into an unsafe piece is none into the others. */
static void
count_apart(td_tensor **piece) {
  td_tensor *alias = td_tensor_alias(*piece);
  td_tensor_unref(*piece);
  *piece = alias;
}

static void
finish(const td_node_class *klass, td_tensor *self, int dim, td_tensor **pieces, uint32_t n) {
  bool are_views = klass != &unsafe_class && klass != &unsafe_sizes_class;
  for (uint32_t i = 0; i < n; i++)
    if (are_views)
      td_view_init(pieces[i], self, TD_CREATION_MULTI_OUTPUT);
    else
      count_apart(&pieces[i]);
  cut_node *node = td_function_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return;
  node->dim = dim;
  td_function_end(&node->node, pieces, n);
}

/* Pieces of the given lengths, which add up to the dimension. */
static td_tensor **
cut(td_tensor *self, int dim, uint32_t n, const int64_t *lengths) {
  td_tensor **pieces = TD_NEW_N(td_tensor *, n + 1);
  int64_t start = 0;
  for (uint32_t i = 0; i < n; start += lengths[i++]) {
    td_sizes sizes = td_op_sizes(self);
    sizes.at[dim] = lengths[i];
    pieces[i] = td_tensor_new_view(self, sizes.n_dims, sizes.at, self->strides,
                                   self->offset + start * self->strides[dim]);
  }
  return pieces;
}

static td_status
split(const td_node_class *klass, td_tensor *self, int64_t split_size, int64_t dim,
      td_tensor ***out, uint32_t *n_out, td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_SHAPE, "split expects at least a 1-dimensional tensor");
  TD_TRY(td_op_want_dense(self, "split.Tensor", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  int64_t size = self->sizes[at];
  if (split_size < 0 || (split_size == 0 && size > 0))
    return td_error_set(error, TD_INVALID,
                        "split expects split_size be non-negative, but got split_size=%lld",
                        (long long)split_size);
  *n_out = size == 0 ? 1 : (uint32_t)((size + split_size - 1) / split_size);
  int64_t *lengths = TD_NEW_N(int64_t, *n_out);
  for (uint32_t i = 0; i < *n_out; i++)
    lengths[i] = TD_MIN(split_size, size - i * split_size);
  *out = cut(self, at, *n_out, lengths);
  free(lengths);
  finish(klass, self, at, *out, *n_out);
  return TD_OK;
}

td_status
td_op_split(td_tensor *self, int64_t split_size, int64_t dim, td_tensor ***out, uint32_t *n_out,
            td_error *error) {
  return split(&split_class, self, split_size, dim, out, n_out, error);
}

td_status
td_op_unsafe_split(td_tensor *self, int64_t split_size, int64_t dim, td_tensor ***out,
                   uint32_t *n_out, td_error *error) {
  return split(&unsafe_class, self, split_size, dim, out, n_out, error);
}

static td_status
split_sizes(const td_node_class *klass, td_tensor *self, int n, const int64_t *lengths, int64_t dim,
            td_tensor ***out, uint32_t *n_out, td_error *error) {
  int at;
  int64_t sum = 0;
  if (self->n_dims == 0)
    return td_error_set(error, TD_SHAPE,
                        "split_with_sizes expects at least a 1-dimensional tensor");
  TD_TRY(td_op_want_dense(self, "split_with_sizes", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  for (int i = 0; i < n; sum += lengths[i++])
    if (lengths[i] < 0)
      return td_error_set(
          error, TD_INVALID,
          "split_with_sizes expects split_sizes have only non-negative entries, but "
          "got split_sizes[%d]",
          i);
  if (sum != self->sizes[at]) {
    char *text = td_sizes_text(n, lengths);
    td_error_set(error, TD_SHAPE,
                 "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size "
                 "at dimension %d), but got split_sizes=%s",
                 (long long)self->sizes[at], at, text);
    free(text);
    return TD_SHAPE;
  }
  *n_out = (uint32_t)n;
  *out = cut(self, at, *n_out, lengths);
  finish(klass, self, at, *out, *n_out);
  return TD_OK;
}

td_status
td_op_split_sizes(td_tensor *self, int n, const int64_t *lengths, int64_t dim, td_tensor ***out,
                  uint32_t *n_out, td_error *error) {
  return split_sizes(&sizes_class, self, n, lengths, dim, out, n_out, error);
}

td_status
td_op_unsafe_split_sizes(td_tensor *self, int n, const int64_t *lengths, int64_t dim,
                         td_tensor ***out, uint32_t *n_out, td_error *error) {
  return split_sizes(&unsafe_sizes_class, self, n, lengths, dim, out, n_out, error);
}

td_status
td_op_unbind(td_tensor *self, int64_t dim, td_tensor ***out, uint32_t *n_out, td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
  TD_TRY(td_op_want_dense(self, "unbind.int", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  int64_t strides[TD_MAX_DIMS];
  td_sizes sizes = td_view_sizes_without(self, at, strides);
  *n_out = (uint32_t)self->sizes[at];
  *out = TD_NEW_N(td_tensor *, *n_out + 1);
  for (uint32_t i = 0; i < *n_out; i++)
    (*out)[i] = td_tensor_new_view(self, sizes.n_dims, sizes.at, strides,
                                   self->offset + i * self->strides[at]);
  finish(&unbind_class, self, at, *out, *n_out);
  return TD_OK;
}

static td_status
chunk(const td_node_class *klass, td_tensor *self, int64_t chunks, int64_t dim, td_tensor ***out,
      uint32_t *n_out, td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_SHAPE, "chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0)
    return td_error_set(error, TD_INVALID, "chunk expects `chunks` to be greater than 0, got: %lld",
                        (long long)chunks);
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  return split(klass, self, (self->sizes[at] + chunks - 1) / chunks, at, out, n_out, error);
}

td_status
td_op_chunk(td_tensor *self, int64_t chunks, int64_t dim, td_tensor ***out, uint32_t *n_out,
            td_error *error) {
  return chunk(&split_class, self, chunks, dim, out, n_out, error);
}

td_status
td_op_unsafe_chunk(td_tensor *self, int64_t chunks, int64_t dim, td_tensor ***out, uint32_t *n_out,
                   td_error *error) {
  return chunk(&unsafe_class, self, chunks, dim, out, n_out, error);
}
