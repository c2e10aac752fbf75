/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which operations refuse which dtypes, in PyTorch's words. */
#include "engine/torch/ops/base/op.h"

#include <math.h>

typedef enum refused_dtypes { BOOL = 1, INTEGER = 2, WHOLE = 3, COMPLEX = 4 } refused_dtypes;

static const struct {
  const char *operation, *kernel, *text; /* kernel or text */
  unsigned dtypes;
  bool not_implemented; /* so is text */
} rows[] = {
#define TD_NO_KERNEL(operation_, kernel_, dtypes_)                                                 \
  {.operation = (operation_), .kernel = (kernel_), .dtypes = dtypes_},
#define TD_REFUSED(operation_, text_, dtypes_)                                                     \
  {.operation = (operation_), .text = (text_), .dtypes = dtypes_},
#define TD_NOT_IMPLEMENTED(operation_, text_, dtypes_)                                             \
  {.operation = (operation_), .text = (text_), .dtypes = dtypes_, .not_implemented = true},
#include "engine/torch/ops/base/refused.def"
#undef TD_NOT_IMPLEMENTED
#undef TD_REFUSED
#undef TD_NO_KERNEL
};

static unsigned
kind_of(td_dtype dtype) {
  if (td_dtype_is_floating(dtype)) return 0;
  return td_dtype_is_complex(dtype) ? COMPLEX : dtype == TD_BOOL ? BOOL : INTEGER;
}

td_status
td_op_check_dtype(const char *operation, td_dtype dtype, td_error *error) {
  if (td_dtype_is_floating(dtype)) return TD_OK;
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    if (strcmp(rows[i].operation, operation) != 0 || !(rows[i].dtypes & kind_of(dtype))) continue;
    if (rows[i].text)
      return td_error_set(error, rows[i].not_implemented ? TD_UNSUPPORTED : TD_INVALID,
                          rows[i].text, td_dtype_scalar_name(dtype));
    return td_error_set(error, TD_UNSUPPORTED, "\"%s\" not implemented for '%s'", rows[i].kernel,
                        td_dtype_scalar_name(dtype));
  }
  return TD_OK;
}

/* An unsigned dtype takes numbers below zero too, as far as their size fits. */
td_status
td_op_check_number(td_dtype dtype, double value, const char *suffix, td_error *error) {
  static const double ends[TD_N_DTYPES] = {[TD_UINT8] = 0x1p8,
                                           [TD_INT8] = 0x1p7,
                                           [TD_INT16] = 0x1p15,
                                           [TD_INT32] = 0x1p31,
                                           [TD_INT64] = 0x1p63};
  double end = ends[dtype], least = dtype == TD_UINT8 ? 1 - end : -end;
  if (end == 0 || (trunc(value) >= least && trunc(value) < end)) return TD_OK;
  bool is_int = dtype == TD_INT32 && suffix[0];
  return td_error_set(error, TD_INVALID, "value cannot be converted to type %s%s without overflow",
                      is_int ? "int" : td_dtype_short_name(dtype), is_int ? "" : suffix);
}

td_status
td_op_check_real(td_dtype dtype, td_complex128 value, td_error *error) {
  if (__imag__ value == 0 || td_dtype_is_complex(dtype)) return TD_OK;
  return td_error_set(error, TD_INVALID, "value cannot be converted to type %s without overflow",
                      td_dtype_cpp_name(dtype));
}

td_status
td_op_check_sub(td_dtype a, td_dtype b, td_error *error) {
  if (a != TD_BOOL && b != TD_BOOL) return TD_OK;
  if (a == b)
    return td_error_set(error, TD_INVALID,
                        "Subtraction, the `-` operator, with two bool tensors is not supported. "
                        "Use the `^` or `logical_xor()` operator instead.");
  return td_error_set(error, TD_INVALID,
                      "Subtraction, the `-` operator, with a bool tensor is not supported. If you "
                      "are trying to invert a mask, use the `~` or `logical_not()` operator "
                      "instead.");
}
