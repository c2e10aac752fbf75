/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/scalar.h"

#include "engine/torch/tensor/factories.h"

#include <complex.h>

td_tensor *
td_op_scalar(const td_tensor *like, double value, bool is_integer) {
  td_dtype own = is_integer ? TD_INT64 : td_default_dtype();
  bool whole = !td_dtype_is_differentiable(like->dtype) && like->dtype != TD_BOOL;
  bool fits = td_dtype_is_differentiable(like->dtype) || (is_integer && whole);
  td_dtype dtype = fits ? td_dtype_compute(like->dtype) : own;
  td_tensor *scalar = td_tensor_new_scalar(dtype, TD_CPU, value);
  scalar->is_number = true;
  return scalar;
}

td_tensor *
td_op_complex_scalar(const td_tensor *like, td_complex128 value) {
  bool is_double = like->dtype == TD_FLOAT64 || like->dtype == TD_COMPLEX128;
  td_tensor *scalar =
      td_tensor_new_scalar(is_double ? TD_COMPLEX128 : TD_COMPLEX64, TD_CPU, creal(value));
  td_tensor_set_complex(scalar, 0, value);
  scalar->is_number = true;
  return scalar;
}
