/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies: clone, contiguous, and to another dtype or device. */
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/shape/shape.h"

static td_status
clone_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  *out = td_tensor_ref(grad);
  return TD_OK;
}
static const td_op_class clone_class = TD_OP_CLASS_SPARSE("CloneBackward0", clone_formula);

static td_status
copy_of(td_tensor *self, td_dtype dtype, td_device device, td_memory_format format, td_tensor **out,
        td_error *error) {
  if (self->sparse) return td_sparse_copy(self, dtype, device, out, error);
  if (format == TD_FORMAT_CONTIGUOUS)
    TD_TRY(td_tensor_new_empty(dtype, device, self->n_dims, self->sizes, out, error));
  else if (format == TD_FORMAT_PRESERVE)
    TD_TRY(td_tensor_laid_out_like(self, dtype, device, out, error));
  else
    TD_TRY(td_tensor_new_in_format(dtype, device, self->n_dims, self->sizes, format, out, error));
  td_kernel_copy(*out, self);
  return TD_OK;
}

td_status
td_op_clone_in(td_tensor *self, td_memory_format format, td_tensor **out, td_error *error) {
  TD_TRY(copy_of(self, self->dtype, self->device, format, out, error));
  td_op_node *op = td_op_begin(&clone_class, sizeof *op, TD_INPUTS(self));
  if (op) td_op_end(op, *out);
  return TD_OK;
}

td_status
td_op_clone(td_tensor *self, td_tensor **out, td_error *error) {
  return td_op_clone_in(self, TD_FORMAT_CONTIGUOUS, out, error);
}

td_status
td_op_clone_as_it_lies(td_tensor *self, td_tensor **out, td_error *error) {
  return td_op_clone_in(self, TD_FORMAT_PRESERVE, out, error);
}

td_status
td_op_contiguous(td_tensor *self, td_tensor **out, td_error *error) {
  return td_op_contiguous_in(self, TD_FORMAT_CONTIGUOUS, out, error);
}

/* No copy is needed: it lies so already. */
static bool
lies_in(const td_tensor *self, td_memory_format format) {
  return self->sparse || format == TD_FORMAT_PRESERVE ||
         (format == TD_FORMAT_CONTIGUOUS ? td_tensor_is_contiguous(self)
                                         : td_tensor_has_format(self, format));
}

td_status
td_op_contiguous_in(td_tensor *self, td_memory_format format, td_tensor **out, td_error *error) {
  if (!lies_in(self, format)) return td_op_clone_in(self, format, out, error);
  *out = td_tensor_ref(self);
  return TD_OK;
}

td_status
td_op_detach(td_tensor *self, td_tensor **out, td_error *error) {
  td_cut_history(self, TD_cut_kind_detach);
  *out = td_tensor_detach(self);
  return TD_OK;
}

static td_status
conj_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_conj(grad, out, error);
}
static const td_op_class conj_class = TD_OP_CLASS("ConjBackward0", conj_formula);

td_status
td_op_conj(td_tensor *self, td_tensor **out, td_error *error) {
  *out = NULL;
  if (!td_dtype_is_complex(self->dtype)) {
    *out = td_tensor_ref(self);
    return TD_OK;
  }
  TD_TRY(copy_of(self, self->dtype, self->device, TD_FORMAT_CONTIGUOUS, out, error));
  int64_t n = TD_LAUNCH("conj", 1, *out) ? td_tensor_n_elements(*out) : 0;
  if (self->dtype == TD_COMPLEX64)
    for (td_complex64 *x = td_tensor_data(*out), *end = x + n; x < end; x++)
      *x = ~*x;
  else
    for (td_complex128 *x = td_tensor_data(*out), *end = x + n; x < end; x++)
      *x = ~*x;
  td_op_node *op = td_op_begin(&conj_class, sizeof *op, TD_INPUTS(self));
  if (op) td_op_end(op, *out);
  return TD_OK;
}

typedef struct to_node {
  td_op_node op;
  td_dtype dtype;
  td_device device;
} to_node;

static td_status
to_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return td_op_to(grad, ((to_node *)op)->dtype, ((to_node *)op)->device, out, error);
}
static const td_op_class to_class = TD_OP_CLASS_SPARSE("ToCopyBackward0", to_formula);

static td_status
copy_to(td_tensor *self, td_dtype dtype, td_device device, td_memory_format format, td_tensor **out,
        td_error *error) {
  TD_TRY(td_kernel_check_source(self, device, error));
  TD_TRY(copy_of(self, dtype, device, format, out, error));
  if (!td_dtype_is_differentiable(dtype)) return TD_OK;
  to_node *node = td_op_begin(&to_class, sizeof *node, TD_INPUTS(self));
  if (node) {
    node->dtype = self->dtype;
    node->device = self->device;
    td_op_end(&node->op, *out);
  }
  return TD_OK;
}

td_status
td_op_to(td_tensor *self, td_dtype dtype, td_device device, td_tensor **out, td_error *error) {
  if (self->dtype != dtype || self->device != device)
    return copy_to(self, dtype, device, TD_FORMAT_PRESERVE, out, error);
  *out = td_tensor_ref(self);
  return TD_OK;
}

td_status
td_op_to_format(td_tensor *self, td_memory_format format, td_tensor **out, td_error *error) {
  bool is_there = self->sparse || format == TD_FORMAT_PRESERVE || td_tensor_suggests(self, format);
  if (!is_there) return copy_to(self, self->dtype, self->device, format, out, error);
  *out = td_tensor_ref(self);
  return TD_OK;
}

td_status
td_op_to_device(td_tensor *self, td_device device, td_tensor **out, td_error *error) {
  return td_op_to(self, self->dtype, device, out, error);
}

td_status
td_op_to_dtype(td_tensor *self, td_dtype dtype, td_tensor **out, td_error *error) {
  return td_op_to(self, dtype, self->device, out, error);
}
