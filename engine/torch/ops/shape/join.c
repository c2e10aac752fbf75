/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Joining tensors: cat, stack. */
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"
#include "engine/torch/pass/exec_info.h"

typedef struct cat_node {
  td_op_node op;
  int dim;
  int64_t *starts;  /* (owned) [n_outputs + 1] along dim */
  td_dtype *dtypes; /* (owned) [n_outputs], NULL where all are the result's */
} cat_node;

static void
cat_fini(td_node *node) {
  free(((cat_node *)node)->starts);
  free(((cat_node *)node)->dtypes);
}

/* PyTorch cuts out the pieces of all tensors, wanted or not: each takes a number. */
static td_status
join_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  const td_op_class *klass = (const td_op_class *)node->klass;
  bool all = inputs[0] && td_grad_mode() && td_requires_grad(inputs[0]);
  if (!all) return td_op_apply(node, inputs, outputs, error);
  td_status status = TD_OK;
  for (uint32_t i = 0; i < node->n_outputs; i++) {
    TD_LOCAL(piece);
    outputs[i] = NULL;
    if (!status) status = klass->formula((td_op_node *)node, inputs[0], i, &piece, error);
    if (!status && td_needs_gradient(node, i)) outputs[i] = TD_TAKE(piece);
  }
  if (status) td_op_drop(outputs, node->n_outputs);
  return status;
}

#define JOIN_CLASS(name_, formula_)                                                                \
  {                                                                                                \
    {.name = (name_), .apply = join_apply, .release_variables = td_op_release, .fini = cat_fini},  \
        .formula = (formula_)                                                                      \
  }

static td_status
cat_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  cat_node *node = (cat_node *)op;
  TD_LOCAL(piece);
  TD_TRY(
      td_op_slice(grad, node->dim, node->starts[which], node->starts[which + 1], 1, &piece, error));
  return td_op_to_dtype(piece, node->dtypes ? node->dtypes[which] : grad->dtype, out, error);
}
static const td_op_class cat_class = JOIN_CLASS("CatBackward0", cat_formula);

static td_status
stack_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  cat_node *node = (cat_node *)op;
  TD_LOCAL(piece);
  TD_TRY(td_op_select(grad, node->dim, which, &piece, error));
  return td_op_to_dtype(piece, node->dtypes ? node->dtypes[which] : grad->dtype, out, error);
}
static const td_op_class stack_class = JOIN_CLASS("StackBackward0", stack_formula);

static td_status
check_joined(uint32_t i, const td_tensor *first, const td_tensor *tensor, int dim,
             td_error *error) {
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
  td_dtype dtype = tensors[0]->dtype;
  starts[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    TD_TRY(check_joined(i, tensors[0], tensors[i], dim, error));
    dtype = td_op_wider(dtype, tensors[i]->dtype);
    starts[i + 1] = starts[i] + tensors[i]->sizes[dim];
  }
  sizes.at[dim] = starts[n];
  TD_TRY(td_op_common_device(n, tensors, &device, error));
  TD_TRY(td_tensor_new_empty(dtype, device, sizes.n_dims, sizes.at, out, error));
  for (uint32_t i = 0; i < n; i++) {
    TD_LOCAL(place);
    place = td_tensor_new_view(*out, sizes.n_dims, tensors[i]->sizes, (*out)->strides,
                               starts[i] * (*out)->strides[dim]);
    td_kernel_copy(place, tensors[i]);
  }
  return TD_OK;
}

static td_dtype *
dtypes_of(uint32_t n, td_tensor *const *tensors, const td_tensor *result) {
  bool same = true;
  for (uint32_t i = 0; i < n; i++)
    same = same && tensors[i]->dtype == result->dtype;
  if (same) return NULL;
  td_dtype *dtypes = TD_NEW_N(td_dtype, n);
  for (uint32_t i = 0; i < n; i++)
    dtypes[i] = tensors[i]->dtype;
  return dtypes;
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
  node->dtypes = dtypes_of(n, tensors, result);
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
