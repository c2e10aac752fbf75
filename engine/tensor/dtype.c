/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/tensor/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  size_t size;
} dtypes[TD_N_DTYPES] = {
#define X(name, text, ctype) {text, sizeof(ctype)},
    TD_DTYPES(X)
#undef X
};

size_t
td_dtype_size(td_dtype dtype) {
  return dtypes[dtype].size;
}

const char *
td_dtype_name(td_dtype dtype) {
  return dtypes[dtype].name;
}

const char *
td_dtype_short_name(td_dtype dtype) {
  return dtypes[dtype].name + strlen("torch.");
}

const char *
td_dtype_tensor_name(td_dtype dtype) {
  static const char *const names[TD_N_DTYPES] = {
      [TD_FLOAT32] = "FloatTensor",
      [TD_FLOAT64] = "DoubleTensor",
      [TD_INT64] = "LongTensor",
      [TD_BOOL] = "BoolTensor",
      [TD_INT32] = "IntTensor",
      [TD_COMPLEX64] = "ComplexFloatTensor",
      [TD_COMPLEX128] = "ComplexDoubleTensor",
  };
  return names[dtype];
}
