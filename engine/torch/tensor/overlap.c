/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/overlap.h"

#include <string.h>

static bool
may_overlap(const td_tensor *a, const td_tensor *b) {
  return a->storage == b->storage && !a->sparse && !b->sparse && td_tensor_n_elements(a) > 0 &&
         td_tensor_n_elements(b) > 0 && td_tensor_is_dense(a) && td_tensor_is_dense(b);
}

static bool
same_strides(const td_tensor *a, const td_tensor *b) {
  return a->n_dims == b->n_dims &&
         memcmp(a->strides, b->strides, (size_t)a->n_dims * sizeof *a->strides) == 0;
}

td_overlap
td_tensor_overlap(const td_tensor *a, const td_tensor *b) {
  if (a == b) return TD_OVERLAP_FULL;
  if (!may_overlap(a, b)) return TD_OVERLAP_NONE;
  int64_t a_size = (int64_t)td_dtype_size(a->dtype), b_size = (int64_t)td_dtype_size(b->dtype);
  int64_t a_begin = a->offset * a_size, a_end = a_begin + td_tensor_n_elements(a) * a_size;
  int64_t b_begin = b->offset * b_size, b_end = b_begin + td_tensor_n_elements(b) * b_size;
  if (a_begin == b_begin && a_end == b_end)
    return same_strides(a, b) ? TD_OVERLAP_FULL : TD_OVERLAP_PARTIAL;
  return a_begin < b_end && b_begin < a_end ? TD_OVERLAP_PARTIAL : TD_OVERLAP_NONE;
}

bool
td_tensor_overlaps_itself(const td_tensor *tensor) {
  for (int dim = 0; dim < tensor->n_dims; dim++)
    if (tensor->sizes[dim] > 1 && tensor->strides[dim] == 0) return true;
  return false;
}
