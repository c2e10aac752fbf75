/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels that read memory without a walk have no code for storage dtypes (Note [Compute types] in
 * engine/torch/tensor/dtype.h). They compute on widened operands. The result becomes narrow again.
 * So:
 *
 *   TD_LOCAL(wide);
 *   TD_TRY(td_op_widen(self, &wide, error));
 *   TD_TRY(td_tensor_new_like(wide, out, error));
 *   kernel(*out, wide);
 *   return td_op_rounded(out, self->dtype, error);
 *
 * For other dtypes both do nothing. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/op.h"

/* td_op_widen returns a copy in the compute type, or a new reference. NULL passes through. */
td_status td_op_widen(td_tensor *tensor, td_tensor **out, td_error *error);

/* td_op_widen_contiguous is td_op_widen, and the result is contiguous. */
td_status td_op_widen_contiguous(td_tensor *tensor, td_tensor **out, td_error *error);

/* td_op_rounded puts a copy of `dtype` in place of *result, which has no history yet. NULL passes
 * through. If it fails, *result is NULL. */
td_status td_op_rounded(td_tensor **result, td_dtype dtype, td_error *error);
