/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/op.h"

#include "engine/torch/device/device.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/pass/exec_info.h"

/* As PyTorch, which unpacks all before it computes: so much for which of several is told. */
static td_status
check_saved(td_op_node *op, td_error *error) {
  static const uint8_t orders[2][TD_OP_MAX_SAVED] = {{0, 1, 2}, {1, 0, 2}};
  bool last_first = ((const td_op_class *)op->node.klass)->last_first && td_policy(saved_by_name);
  td_status status = TD_OK;
  td_node_lock(&op->node);
  for (int i = 0; i < TD_OP_MAX_SAVED && !status; i++)
    status = td_saved_variable_check(&op->saved[orders[last_first][i]], &op->node, error);
  td_node_unlock(&op->node);
  return status;
}

/* The gradient of a real operand that stood beside a complex one is real. */
static td_status
match_operand(const td_node *node, uint32_t i, td_tensor **gradient, td_error *error) {
  const td_edge *edge = &node->next_edges[i];
  const td_input_metadata *operand =
      edge->node ? &edge->node->input_metadata[edge->input_nr] : NULL;
  bool is_mixed = *gradient && td_dtype_is_complex((*gradient)->dtype) && operand &&
                  operand->defined && td_dtype_is_floating(operand->dtype);
  if (!is_mixed) return TD_OK;
  TD_LOCAL(whole);
  whole = TD_TAKE(*gradient);
  return td_differentiable_get()->real(whole, gradient, error);
}

td_status
td_op_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  td_op_node *op = (td_op_node *)node;
  const td_op_class *klass = (const td_op_class *)node->klass;
  td_status status = check_saved(op, error);
  TD_LOCAL(dense);
  if (!status && inputs[0] && inputs[0]->sparse && !klass->takes_sparse)
    status = td_sparse_to_dense(inputs[0], &dense, error);
  td_tensor *grad = dense ? dense : inputs[0];
  for (uint32_t n = 0; n < node->n_outputs; n++) {
    uint32_t i = klass->last_first ? node->n_outputs - 1 - n : n;
    outputs[i] = NULL;
    if (status == TD_OK && grad && td_needs_gradient(node, i))
      status = klass->formula(op, grad, i, &outputs[i], error);
    if (status == TD_OK) status = match_operand(node, i, &outputs[i], error);
  }
  if (status) td_op_drop(outputs, node->n_outputs);
  return status;
}

void
td_op_release(td_node *node) {
  for (int i = 0; i < TD_OP_MAX_SAVED; i++)
    td_saved_variable_release(&((td_op_node *)node)->saved[i]);
}

void *
td_op_begin(const td_op_class *klass, size_t size, td_tensor *const *inputs, uint32_t n_inputs) {
  return td_function_begin(&klass->base, size, inputs, n_inputs);
}

void
td_op_announce_saved(const td_op_node *op, const td_node *node) {
  for (int i = 0; i < TD_OP_MAX_SAVED; i++)
    td_saved_variable_announce(&op->saved[i], node);
}

void
td_op_end(td_op_node *op, td_tensor *result) {
  bool recording = td_recording();
  if (recording) td_node_ref(&op->node); /* it may have no result that holds it */
  td_function_end(&op->node, &result, 1);
  if (!recording) return;
  td_op_announce_saved(op, &op->node);
  td_node_unref(&op->node);
}

void
td_op_end_with(const td_op_class *klass, uint32_t n, td_tensor *const *operands, double number,
               td_tensor *result) {
  td_number_node *node = td_op_begin(klass, sizeof *node, operands, n);
  if (!node) return;
  node->number = number;
  for (uint32_t i = 0; i < n; i++)
    td_op_save(&node->op, (int)i, operands[i]);
  td_op_end(&node->op, result);
}

void
td_op_save(td_op_node *op, int index, td_tensor *tensor) {
  op->saved[index].number = (uint8_t)index;
  td_saved_variable_init(&op->saved[index], tensor, false);
}

void
td_op_save_result(td_op_node *op, int index, td_tensor *result) {
  op->saved[index].number = (uint8_t)index;
  td_saved_variable_init(&op->saved[index], result, true);
  if (td_recording()) td_saved_variable_announce(&op->saved[index], &op->node);
}

td_status
td_op_saved(td_op_node *op, int index, td_tensor **out, td_error *error) {
  td_node_lock(&op->node);
  td_status status = td_saved_variable_unpack(&op->saved[index], &op->node, out, error);
  td_node_unlock(&op->node);
  return status;
}

static td_status
once_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_error_set(error, TD_UNSUPPORTED,
                      "a backward kernel without a derivative of its own cannot be differentiated "
                      "twice");
}
static const td_op_class once_class = TD_OP_CLASS("DelayedError", once_formula);

void
td_op_end_once(td_tensor *result, td_tensor *const *inputs, uint32_t n_inputs) {
  td_op_node *op = td_op_begin(&once_class, sizeof *op, inputs, n_inputs);
  if (op) td_op_end(op, result);
}

typedef struct unknown_node {
  td_op_node op;
  const char *name; /* (borrowed) */
} unknown_node;

static td_status
unknown_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_error_set(error, TD_INVALID, "derivative for aten::%s is not implemented",
                      ((unknown_node *)op)->name);
}
static const td_op_class unknown_class = TD_OP_CLASS("NotImplemented", unknown_formula);

void
td_op_end_unknown(td_tensor *result, td_tensor *const *inputs, uint32_t n_inputs,
                  const char *name) {
  unknown_node *node = td_op_begin(&unknown_class, sizeof *node, inputs, n_inputs);
  if (!node) return;
  node->name = name;
  td_op_end(&node->op, result);
}

td_input_metadata
td_op_metadata(const td_tensor *tensor) {
  td_input_metadata metadata = {.dtype = tensor->dtype,
                                .device = tensor->device,
                                .n_dims = tensor->n_dims,
                                .sparse = tensor->sparse != NULL,
                                .defined = true};
  for (int dim = 0; dim < tensor->n_dims; dim++)
    metadata.sizes[dim] = tensor->sizes[dim];
  return metadata;
}

/* 0 bool, 1 integer, 2 floating, 3 complex */
static int
category(td_dtype dtype) {
  if (td_dtype_is_complex(dtype)) return 3;
  return dtype == TD_BOOL ? 0 : td_dtype_is_floating(dtype) ? 2 : 1;
}

bool
td_op_can_cast(td_dtype from, td_dtype to) {
  return category(from) <= category(to);
}

/* Of one category: both halves make a float32, unsigned and signed bytes an int16, and else the
 * wider one holds both. */
static td_dtype
wider_alike(td_dtype a, td_dtype b) {
  if (a == b) return a;
  if (td_dtype_is_half(a) && td_dtype_is_half(b)) return TD_FLOAT32;
  if (td_dtype_size(a) == td_dtype_size(b)) return TD_INT16;
  return td_dtype_size(a) > td_dtype_size(b) ? a : b;
}

/* A complex number is as wide as the wider of its parts and the other operand. */
td_dtype
td_op_wider(td_dtype a, td_dtype b) {
  bool double_parts =
      a == TD_COMPLEX128 || b == TD_COMPLEX128 || a == TD_FLOAT64 || b == TD_FLOAT64;
  if (category(a) == 3 || category(b) == 3) return double_parts ? TD_COMPLEX128 : TD_COMPLEX64;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  return wider_alike(a, b);
}

/* How much an operand's dtype counts: a number least, a tensor with dimensions most. */
static int
rank(const td_tensor *tensor) {
  return tensor->n_dims > 0 ? 2 : !tensor->is_number;
}

td_dtype
td_op_promote(const td_tensor *a, const td_tensor *b) {
  if (rank(a) == rank(b)) return td_op_wider(a->dtype, b->dtype);
  const td_tensor *big = rank(a) > rank(b) ? a : b, *small = rank(a) > rank(b) ? b : a;
  if (category(small->dtype) <= category(big->dtype)) return big->dtype;
  return category(small->dtype) == 3 && big->dtype == TD_FLOAT64 ? TD_COMPLEX128 : small->dtype;
}

td_status
td_op_cast_factor(td_tensor *tensor, td_dtype dtype, td_tensor **out, td_error *error) {
  bool keeps_digits = tensor->n_dims == 0 && td_dtype_is_half(dtype);
  return td_kernel_cast(tensor, keeps_digits ? TD_FLOAT32 : dtype, out, error);
}

td_dtype
td_op_float_dtype(td_dtype dtype) {
  return td_dtype_is_differentiable(dtype) ? dtype : td_default_dtype();
}

td_status
td_op_common_device(uint32_t n, td_tensor *const *tensors, td_device *device, td_error *error) {
  const td_tensor *first = NULL;
  *device = TD_CPU;
  for (uint32_t i = 0; i < n; i++) {
    if (!tensors[i] || (tensors[i]->n_dims == 0 && tensors[i]->device == TD_CPU)) continue;
    if (first && tensors[i]->device != first->device)
      return td_error_set(error, TD_DEVICE,
                          "Expected all tensors to be on the same device, but found at least two "
                          "devices, %s and %s!",
                          td_device_name(first->device), td_device_name(tensors[i]->device));
    first = tensors[i];
    *device = first->device;
  }
  return TD_OK;
}

td_sizes
td_op_sizes(const td_tensor *tensor) {
  td_sizes sizes = {.n_dims = tensor->n_dims};
  for (int dim = 0; dim < tensor->n_dims; dim++)
    sizes.at[dim] = tensor->sizes[dim];
  return sizes;
}

td_status
td_op_broadcast(const td_sizes *a, const td_sizes *b, td_sizes *out, td_error *error) {
  out->n_dims = TD_MAX(a->n_dims, b->n_dims);
  for (int dim = out->n_dims - 1; dim >= 0; dim--) {
    int a_dim = dim - (out->n_dims - a->n_dims), b_dim = dim - (out->n_dims - b->n_dims);
    int64_t a_size = a_dim < 0 ? 1 : a->at[a_dim], b_size = b_dim < 0 ? 1 : b->at[b_dim];
    if (a_size != b_size && a_size != 1 && b_size != 1)
      return td_error_set(error, TD_SHAPE,
                          "The size of tensor a (%lld) must match the size of tensor b (%lld) at "
                          "non-singleton dimension %d",
                          (long long)a_size, (long long)b_size, dim);
    out->at[dim] = a_size == 1 ? b_size : a_size;
  }
  return TD_OK;
}

td_status
td_op_wrap_dim(int64_t dim, int n_dims, int *out, td_error *error) {
  int range = TD_MAX(n_dims, 1);
  if (dim < -range || dim >= range)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "Dimension out of range (expected to be in range of [%d, %d], but got "
                        "%lld)",
                        -range, range - 1, (long long)dim);
  *out = (int)(dim < 0 ? dim + range : dim);
  return TD_OK;
}

const char *
td_op_scalar_type(td_dtype dtype) {
  return td_dtype_scalar_name(dtype);
}

td_status
td_op_same_dtype(const td_tensor *a, const td_tensor *b, td_error *error) {
  if (a->dtype == b->dtype) return TD_OK;
  return td_error_set(error, TD_DTYPE, "expected scalar type %s but found %s",
                      td_dtype_scalar_name(a->dtype), td_dtype_scalar_name(b->dtype));
}

td_status
td_op_want_floating(const td_tensor *tensor, const char *what, td_error *error) {
  if (td_dtype_is_floating(tensor->dtype)) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED, "\"%s\" not implemented for '%s'", what,
                      td_dtype_scalar_name(tensor->dtype));
}

td_status
td_op_want_real(const td_tensor *tensor, const char *what, td_error *error) {
  if (!td_dtype_is_complex(tensor->dtype)) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED, "\"%s\" not implemented for '%s'", what,
                      td_dtype_scalar_name(tensor->dtype));
}

td_status
td_op_want_dense(const td_tensor *tensor, const char *what, td_error *error) {
  if (!tensor->sparse) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED,
                      "Could not run 'aten::%s' with arguments from the 'SparseCPU' backend.",
                      what);
}

td_status
td_op_no_such_dtype(void) {
  return td_policy(texts_of_2_15) ? TD_UNSUPPORTED : TD_DTYPE;
}

td_status
td_op_want_averageable(const td_tensor *tensor, td_error *error) {
  if (td_dtype_is_differentiable(tensor->dtype)) return TD_OK;
  return td_error_set(error, td_op_no_such_dtype(),
                      "mean(): could not infer output dtype. Input dtype must be either a floating "
                      "point or complex dtype. Got: %s",
                      td_dtype_scalar_name(tensor->dtype));
}
