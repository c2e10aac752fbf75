/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/widen.h"

td_status
td_op_widen(td_tensor *tensor, td_tensor **out, td_error *error) {
  *out = NULL;
  return tensor ? td_kernel_cast(tensor, td_dtype_compute(tensor->dtype), out, error) : TD_OK;
}

td_status
td_op_widen_contiguous(td_tensor *tensor, td_tensor **out, td_error *error) {
  TD_LOCAL(wide);
  *out = NULL;
  TD_TRY(td_op_widen(tensor, &wide, error));
  return wide ? td_kernel_contiguous(wide, out, error) : TD_OK;
}

td_status
td_op_rounded(td_tensor **result, td_dtype dtype, td_error *error) {
  TD_LOCAL(wide);
  if (!*result || (*result)->dtype == dtype) return TD_OK;
  wide = TD_TAKE(*result);
  return td_kernel_cast(wide, dtype, result, error);
}
