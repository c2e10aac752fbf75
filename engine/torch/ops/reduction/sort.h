/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Order within lines along a dimension. Results come in pairs: values, and int64 indices. Only
 * values have a gradient; it goes back to where they came from. A NaN counts as the largest number.
 * See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_sort sorts each line (SortBackward0); equal elements keep their order. td_op_topk takes the
 * k largest or smallest (TopkBackward0). */
td_status td_op_sort(td_tensor *self, int64_t dim, bool descending, td_tensor **values,
                     td_tensor **indices, td_error *error);
td_status td_op_topk(td_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted,
                     td_tensor **values, td_tensor **indices, td_error *error);

/* td_op_kthvalue takes the k-th smallest (KthvalueBackward0), td_op_median_dim the lower of the
 * middle ones (MedianBackward1; without NaNs NanmedianBackward1), td_op_mode the most frequent
 * (ModeBackward0). td_op_cummax and td_op_cummin are the extremes so far (CummaxBackward0,
 * CumminBackward0). */
td_status td_op_kthvalue(td_tensor *self, int64_t k, int64_t dim, bool keepdim, td_tensor **values,
                         td_tensor **indices, td_error *error);
td_status td_op_median_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                           td_tensor **indices, td_error *error);
td_status td_op_nanmedian_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                              td_tensor **indices, td_error *error);
td_status td_op_mode(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                     td_tensor **indices, td_error *error);
td_status td_op_cummax(td_tensor *self, int64_t dim, td_tensor **values, td_tensor **indices,
                       td_error *error);
td_status td_op_cummin(td_tensor *self, int64_t dim, td_tensor **values, td_tensor **indices,
                       td_error *error);
