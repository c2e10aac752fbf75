/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Joining tensors (cat, stack) and cutting one into several (split, chunk). */
#include "engine/ops/view.h"

typedef struct cat_node {
  td_op_node op;
  int dim;
  int64_t *starts; /* (owned) [n_outputs + 1] along dim */
} cat_node;

static void
cat_fini(td_node *node) {
  free(((cat_node *)node)->starts);
}

#define JOIN_CLASS(name_, formula_)                                                                \
  {                                                                                                \
    {.name = (name_), .apply = td_op_apply, .release_variables = td_op_release, .fini = cat_fini}, \
        .formula = (formula_)                                                                      \
  }

static td_status
cat_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  cat_node *node = (cat_node *)op;
  return td_op_slice(grad, node->dim, node->starts[which], node->starts[which + 1], 1, out, error);
}
static const td_op_class cat_class = JOIN_CLASS("CatBackward0", cat_formula);

static td_status
stack_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_select(grad, ((cat_node *)op)->dim, which, out, error);
}
static const td_op_class stack_class = JOIN_CLASS("StackBackward0", stack_formula);

static td_status
check_joined(uint32_t i, const td_tensor *first, const td_tensor *tensor, int dim,
             td_error *error) {
  TD_TRY(td_op_same_dtype(first, tensor, error));
  if (tensor->n_dims != first->n_dims)
    return td_error_set(error, TD_SHAPE,
                        "Tensors must have same number of dimensions: got %d and %d", first->n_dims,
                        tensor->n_dims);
  for (int at = 0; at < first->n_dims; at++)
    if (at != dim && tensor->sizes[at] != first->sizes[at])
      return td_error_set(error, TD_SHAPE,
                          "Sizes of tensors must match except in dimension %d. Expected size %lld "
                          "but got size %lld for tensor number %u in the list.",
                          dim, (long long)first->sizes[at], (long long)tensor->sizes[at], i);
  return TD_OK;
}

/* Copies each tensor to its place along dim, and notes the places. */
static td_status
cat_result(uint32_t n, td_tensor *const *tensors, int dim, int64_t *starts, td_tensor **out,
           td_error *error) {
  td_device device;
  td_sizes sizes = td_op_sizes(tensors[0]);
  starts[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    TD_TRY(check_joined(i, tensors[0], tensors[i], dim, error));
    starts[i + 1] = starts[i] + tensors[i]->sizes[dim];
  }
  sizes.at[dim] = starts[n];
  TD_TRY(td_op_common_device(n, tensors, &device, error));
  TD_TRY(td_tensor_new_empty(tensors[0]->dtype, device, sizes.n_dims, sizes.at, out, error));
  for (uint32_t i = 0; i < n; i++) {
    TD_LOCAL(place);
    place = td_tensor_new_view(*out, sizes.n_dims, tensors[i]->sizes, (*out)->strides,
                               starts[i] * (*out)->strides[dim]);
    td_kernel_copy(place, tensors[i]);
  }
  return TD_OK;
}

/* Takes starts. */
static void
join_end(const td_op_class *klass, uint32_t n, td_tensor *const *tensors, int dim, int64_t *starts,
         td_tensor *result) {
  cat_node *node = td_op_begin(klass, sizeof *node, tensors, n);
  if (!node) {
    free(starts);
    return;
  }
  node->dim = dim;
  node->starts = starts;
  td_op_end(&node->op, result);
}

static td_status
check_some(uint32_t n, const char *what, td_error *error) {
  if (n > 0) return TD_OK;
  return td_error_set(error, TD_INVALID, "%s expects a non-empty TensorList", what);
}

td_status
td_op_cat(uint32_t n, td_tensor *const *tensors, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_TRY(check_some(n, "torch.cat(): ", error));
  if (tensors[0]->n_dims == 0)
    return td_error_set(error, TD_SHAPE,
                        "zero-dimensional tensor (at position 0) cannot be concatenated");
  TD_TRY(td_op_wrap_dim(dim, tensors[0]->n_dims, &at, error));
  int64_t *starts = TD_NEW_N(int64_t, n + 1);
  td_status status = cat_result(n, tensors, at, starts, out, error);
  if (status)
    free(starts);
  else
    join_end(&cat_class, n, tensors, at, starts, *out);
  return status;
}

static td_status
check_stacked(uint32_t n, td_tensor *const *tensors, td_error *error) {
  for (uint32_t i = 1; i < n; i++) {
    if (td_tensor_same_sizes(tensors[0], tensors[i])) continue;
    char *first = td_tensor_shape_text(tensors[0]), *other = td_tensor_shape_text(tensors[i]);
    td_error_set(error, TD_SHAPE,
                 "stack expects each tensor to be equal size, but got %s at entry 0 and %s at "
                 "entry %u",
                 first, other, i);
    free(first);
    free(other);
    return TD_SHAPE;
  }
  return TD_OK;
}

td_status
td_op_stack(uint32_t n, td_tensor *const *tensors, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_TRY(check_some(n, "stack", error));
  TD_TRY(check_stacked(n, tensors, error));
  TD_TRY(td_op_wrap_dim(dim, tensors[0]->n_dims + 1, &at, error));
  td_tensor **rows = TD_NEW_N(td_tensor *, n);
  int64_t *starts = TD_NEW_N(int64_t, n + 1);
  td_status status = TD_OK;
  for (uint32_t i = 0; i < n && status == TD_OK; i++) {
    TD_LOCAL(bare);
    bare = td_tensor_detach(tensors[i]);
    status = td_op_unsqueeze(bare, at, &rows[i], error);
  }
  if (status == TD_OK) status = cat_result(n, rows, at, starts, out, error);
  for (uint32_t i = 0; i < n; i++)
    td_tensor_unref(rows[i]);
  free(rows);
  if (status)
    free(starts);
  else
    join_end(&stack_class, n, tensors, at, starts, *out);
  return status;
}

typedef struct split_node {
  td_node node;
  int dim;
} split_node;

/* A piece's gradient, or zeros where no gradient came for it. */
static td_status
piece_gradient(const split_node *node, uint32_t i, td_tensor *grad, td_tensor **out,
               td_error *error) {
  if (grad) {
    *out = td_tensor_ref(grad);
    return TD_OK;
  }
  const td_input_metadata *piece = &node->node.input_metadata[i];
  return td_tensor_new(piece->dtype, piece->device, piece->n_dims, piece->sizes, out, error);
}

static td_status
split_backward(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  split_node *split = (split_node *)node;
  outputs[0] = NULL;
  if (!td_needs_gradient(node, 0)) return TD_OK;
  td_tensor **pieces = TD_NEW_N(td_tensor *, node->n_inputs);
  td_status status = TD_OK;
  for (uint32_t i = 0; i < node->n_inputs && status == TD_OK; i++)
    status = piece_gradient(split, i, inputs[i], &pieces[i], error);
  if (status == TD_OK) status = td_op_cat(node->n_inputs, pieces, split->dim, outputs, error);
  for (uint32_t i = 0; i < node->n_inputs; i++)
    td_tensor_unref(pieces[i]);
  free(pieces);
  return status;
}
static const td_node_class split_class = {.name = "SplitBackward0", .apply = split_backward};

td_status
td_op_split(td_tensor *self, int64_t split_size, int64_t dim, td_tensor ***out, uint32_t *n_out,
            td_error *error) {
  int at;
  if (self->n_dims == 0)
    return td_error_set(error, TD_SHAPE, "split expects at least a 1-dimensional tensor");
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  int64_t size = self->sizes[at];
  if (split_size < 0 || (split_size == 0 && size > 0))
    return td_error_set(error, TD_INVALID,
                        "split expects split_size be non-negative, but got split_size=%lld",
                        (long long)split_size);
  uint32_t n = size == 0 ? 1 : (uint32_t)((size + split_size - 1) / split_size);
  td_tensor **pieces = TD_NEW_N(td_tensor *, n);
  for (uint32_t i = 0; i < n; i++) {
    td_sizes sizes = td_op_sizes(self);
    sizes.at[at] = TD_MIN(split_size, size - i * split_size);
    pieces[i] = td_tensor_new_view(self, sizes.n_dims, sizes.at, self->strides,
                                   self->offset + i * split_size * self->strides[at]);
    td_view_init(pieces[i], self, TD_CREATION_MULTI_OUTPUT);
  }
  split_node *node = td_function_begin(&split_class, sizeof *node, TD_INPUTS(self));
  if (node) {
    node->dim = at;
    td_function_end(&node->node, pieces, n);
  }
  *out = pieces;
  *n_out = n;
  return TD_OK;
}

td_status
td_op_chunk(td_tensor *self, int64_t chunks, int64_t dim, td_tensor ***out, uint32_t *n_out,
            td_error *error) {
  int at;
  if (chunks <= 0)
    return td_error_set(error, TD_INVALID, "chunk expects `chunks` to be greater than 0, got: %lld",
                        (long long)chunks);
  if (self->n_dims == 0)
    return td_error_set(error, TD_SHAPE, "chunk expects at least a 1-dimensional tensor");
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  return td_op_split(self, (self->sizes[at] + chunks - 1) / chunks, at, out, n_out, error);
}
