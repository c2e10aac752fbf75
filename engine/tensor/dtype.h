/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dtypes: the types of a tensor's elements, and the choice of code by dtype. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(constant, name as PyTorch prints it, C type) */
#define TD_DTYPES(X)                                                                               \
  X(FLOAT32, "torch.float32", float)                                                               \
  X(FLOAT64, "torch.float64", double)                                                              \
  X(INT64, "torch.int64", int64_t)                                                                 \
  X(BOOL, "torch.bool", bool)                                                                      \
  X(INT32, "torch.int32", int32_t)                                                                 \
  X(COMPLEX64, "torch.complex64", td_complex64)                                                    \
  X(COMPLEX128, "torch.complex128", td_complex128)
typedef float _Complex td_complex64;
typedef double _Complex td_complex128;

typedef enum td_dtype {
#define X(name, text, ctype) TD_##name,
  TD_DTYPES(X)
#undef X
      TD_N_DTYPES
} td_dtype;

size_t td_dtype_size(td_dtype dtype);
const char *td_dtype_name(td_dtype dtype);        /* "torch.float32" */
const char *td_dtype_short_name(td_dtype dtype);  /* "float32", as on tapes */
const char *td_dtype_tensor_name(td_dtype dtype); /* "FloatTensor": the type of its tensors */
static inline bool
td_dtype_is_floating(td_dtype dtype) {
  return dtype == TD_FLOAT32 || dtype == TD_FLOAT64;
}
static inline bool
td_dtype_is_complex(td_dtype dtype) {
  return dtype == TD_COMPLEX64 || dtype == TD_COMPLEX128;
}
/* td_dtype_is_differentiable: tensors of this dtype may have gradients. */
static inline bool
td_dtype_is_differentiable(td_dtype dtype) {
  return td_dtype_is_floating(dtype) || td_dtype_is_complex(dtype);
}

/* TD_DISPATCH runs its block with T as the C type of a real dtype. TD_DISPATCH_ALL knows the
 * complex dtypes as well; they have no order, so x < y does not compile. TD_DISPATCH_FLOATING knows
 * float32 and float64 alone. For any other dtype the block does not run: the caller has refused it.
 */
#define TD_DISPATCH_CASE(name, type, ...)                                                          \
  case TD_##name: {                                                                                \
    typedef type T;                                                                                \
    __VA_ARGS__                                                                                    \
  } break;
#define TD_DISPATCH_REALS(...)                                                                     \
  TD_DISPATCH_CASE(FLOAT32, float, __VA_ARGS__)                                                    \
  TD_DISPATCH_CASE(FLOAT64, double, __VA_ARGS__)                                                   \
  TD_DISPATCH_CASE(INT64, int64_t, __VA_ARGS__)                                                    \
  TD_DISPATCH_CASE(INT32, int32_t, __VA_ARGS__)                                                    \
  TD_DISPATCH_CASE(BOOL, bool, __VA_ARGS__)
#define TD_DISPATCH(dtype, ...)                                                                    \
  switch (dtype) {                                                                                 \
    TD_DISPATCH_REALS(__VA_ARGS__)                                                                 \
  default:                                                                                         \
    break;                                                                                         \
  }
#define TD_DISPATCH_ALL(dtype, ...)                                                                \
  switch (dtype) {                                                                                 \
    TD_DISPATCH_REALS(__VA_ARGS__)                                                                 \
    TD_DISPATCH_CASE(COMPLEX64, td_complex64, __VA_ARGS__)                                         \
    TD_DISPATCH_CASE(COMPLEX128, td_complex128, __VA_ARGS__)                                       \
  default:                                                                                         \
    break;                                                                                         \
  }
#define TD_DISPATCH_FLOATING(dtype, ...)                                                           \
  switch (dtype) {                                                                                 \
    TD_DISPATCH_CASE(FLOAT32, float, __VA_ARGS__)                                                  \
    TD_DISPATCH_CASE(FLOAT64, double, __VA_ARGS__)                                                 \
  default:                                                                                         \
    break;                                                                                         \
  }
