/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which memory two tensors share. As PyTorch, these look at the ends of the memory of dense
 * tensors, and do not compare elements. */
#pragma once

#include "engine/torch/tensor/tensor.h"

typedef enum td_overlap {
  TD_OVERLAP_NONE, /* or nobody can tell cheaply: a tensor with gaps */
  TD_OVERLAP_FULL, /* the same elements in the same order */
  TD_OVERLAP_PARTIAL,
} td_overlap;

td_overlap td_tensor_overlap(const td_tensor *a, const td_tensor *b);

/* td_tensor_overlaps_itself: several elements lie in one place. An expanded dimension is enough:
 * other overlaps come of as_strided alone. */
bool td_tensor_overlaps_itself(const td_tensor *tensor);
