/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the files of views share, and views that only compositions use. Private to engine/torch/ops,
 * but for what operations.def calls. */
#pragma once

#include "engine/torch/graph/views.h"
#include "engine/torch/ops/base/op.h"

/* What the formulas need to undo a view: the sizes of its base, and the numbers of the operation.
 */
typedef struct td_view_node {
  td_op_node op;
  td_sizes self;
  int64_t numbers[TD_MAX_DIMS];
} td_view_node;

/* td_view_new makes a view. If history is wanted, it makes a node of the class and returns it; else
 * NULL. The caller may still write the node's numbers. */
td_view_node *td_view_new(const td_op_class *klass, td_tensor *self, const td_sizes *sizes,
                          const int64_t *strides, int64_t offset, td_tensor **out);

/* td_view_new_as is the same for a view whose elements are of another dtype; strides and offset
 * count those. */
td_view_node *td_view_new_as(const td_op_class *klass, td_tensor *self, td_dtype dtype,
                             const td_sizes *sizes, const int64_t *strides, int64_t offset,
                             td_tensor **out);

/* td_op_view_like is a view with this dtype. The tensor has it already, or complex numbers in place
 * of pairs of real ones, or the other way round. */
td_status td_op_view_like(td_tensor *self, td_dtype dtype, td_tensor **out, td_error *error);

/* td_view_sizes_without returns the sizes of a view that lacks dimension `dim`, and writes its
 * strides. */
td_sizes td_view_sizes_without(const td_tensor *self, int dim, int64_t strides[TD_MAX_DIMS]);

/* td_op_own passes the status on. If it is TD_OK, the result becomes no view: only steps of an
 * operation led to it. */
static inline td_status
td_op_own(td_status status, td_tensor **result) {
  if (!status) td_view_forget(*result);
  return status;
}

/* td_op_unsafe_view is a view of a temporary (UnsafeViewBackward0). td_op_squeeze_in_place is
 * squeeze_ on a temporary (SqueezeBackward3). */
td_status td_op_unsafe_view(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
                            td_error *error);
td_status td_op_squeeze_in_place(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);

/* td_op_slice_backward is zeros of `sizes` with grad in the slice of `dim` that begins at start
 * (SliceBackwardBackward0). */
td_status td_op_slice_backward(td_tensor *grad, const td_sizes *sizes, int dim, int64_t start,
                               int64_t step, td_tensor **out, td_error *error);
