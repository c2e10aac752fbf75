/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fused: sums of products that are rounded once, as PyTorch's kernels round them. Private to
 * engine/torch/ops. */
#pragma once

#include "engine/torch/tensor/walk.h"

typedef enum td_fused {
  TD_FUSED_ADD,         /* x + value a */
  TD_FUSED_ADDCMUL,     /* x + (value a) b */
  TD_FUSED_ADDCDIV,     /* x + (value a) / b */
  TD_FUSED_LERP,        /* x + value (a - x), from whichever end is nearer */
  TD_FUSED_LERP_TENSOR, /* x + b (a - x), the same */
} td_fused;

/* td_fused_can says whether there is a kernel: for floating dtypes. */
bool td_fused_can(td_dtype dtype);

/* td_fused_rows walks over all rows. The walk's tensors have that dtype. They are the result, x, a
 * and b, or the first three, or x (which becomes the result) and a. */
void td_fused_rows(td_fused fused, td_dtype dtype, td_walk *walk, double value);
