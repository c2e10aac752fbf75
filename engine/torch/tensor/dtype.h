/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dtypes: the types of a tensor's elements, and the choice of code by dtype. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(constant, name as PyTorch prints it, C type, two names that error texts have) */
#define TD_DTYPES(X)                                                                               \
  X(FLOAT32, "torch.float32", float, "Float", "float")                                             \
  X(FLOAT64, "torch.float64", double, "Double", "double")                                          \
  X(INT64, "torch.int64", int64_t, "Long", "long int")                                             \
  X(BOOL, "torch.bool", bool, "Bool", "bool")                                                      \
  X(INT32, "torch.int32", int32_t, "Int", "int")                                                   \
  X(COMPLEX64, "torch.complex64", td_complex64, "ComplexFloat", "c10::complex<float>")             \
  X(COMPLEX128, "torch.complex128", td_complex128, "ComplexDouble", "c10::complex<double>")        \
  X(FLOAT16, "torch.float16", td_float16, "Half", "c10::Half")                                     \
  X(BFLOAT16, "torch.bfloat16", td_bfloat16, "BFloat16", "c10::BFloat16")                          \
  X(UINT8, "torch.uint8", uint8_t, "Byte", "unsigned char")                                        \
  X(INT8, "torch.int8", int8_t, "Char", "signed char")                                             \
  X(INT16, "torch.int16", int16_t, "Short", "short int")
typedef float _Complex td_complex64;
typedef double _Complex td_complex128;
typedef struct td_float16 {
  uint16_t bits;
} td_float16;
typedef struct td_bfloat16 {
  uint16_t bits;
} td_bfloat16;

typedef enum td_dtype {
#define X(name, ...) TD_##name,
  TD_DTYPES(X)
#undef X
      TD_N_DTYPES
} td_dtype;

size_t td_dtype_size(td_dtype dtype);
size_t td_dtype_alignment(td_dtype dtype);        /* of an address of an element */
const char *td_dtype_name(td_dtype dtype);        /* "torch.float32" */
const char *td_dtype_short_name(td_dtype dtype);  /* "float32", as on tapes */
const char *td_dtype_scalar_name(td_dtype dtype); /* "Float", as in error texts */
const char *td_dtype_tensor_name(td_dtype dtype); /* "FloatTensor": the type of its tensors */
const char *td_dtype_cpp_name(td_dtype dtype);    /* "float", "c10::Half" */

/* Note [Compute types]: a storage dtype, from TD_FLOAT16 on, only holds elements. Kernels compute
 * in its compute type, float32 or int64. A walk (walk.h) gives a kernel elements of that type, and
 * rounds or wraps what the kernel wrote. So a result is rounded once per operation, as in PyTorch.
 * What reads memory without a walk needs a tensor of the compute type:
 * engine/torch/ops/base/widen.h. */
static inline bool
td_dtype_is_storage(td_dtype dtype) {
  return dtype >= TD_FLOAT16;
}
static inline bool
td_dtype_is_half(td_dtype dtype) {
  return dtype == TD_FLOAT16 || dtype == TD_BFLOAT16;
}
static inline td_dtype
td_dtype_compute(td_dtype dtype) {
  return !td_dtype_is_storage(dtype) ? dtype : td_dtype_is_half(dtype) ? TD_FLOAT32 : TD_INT64;
}

/* td_dtype_load reads n elements of a storage dtype, `step` apart, as its compute type.
 * td_dtype_store writes them back: to the nearest float, even in a tie, or the low bits. */
void td_dtype_load(td_dtype dtype, void *to, const void *from, int64_t step, int64_t n);
void td_dtype_store(td_dtype dtype, void *to, const void *from, int64_t step, int64_t n);
double td_dtype_round(td_dtype dtype, double value); /* as a half, or unchanged */

static inline bool
td_dtype_is_floating(td_dtype dtype) {
  return dtype == TD_FLOAT32 || dtype == TD_FLOAT64 || td_dtype_is_half(dtype);
}
static inline bool
td_dtype_is_complex(td_dtype dtype) {
  return dtype == TD_COMPLEX64 || dtype == TD_COMPLEX128;
}
/* td_dtype_real is the dtype of a complex number's parts. A real dtype is its own. */
static inline td_dtype
td_dtype_real(td_dtype dtype) {
  return dtype == TD_COMPLEX64 ? TD_FLOAT32 : dtype == TD_COMPLEX128 ? TD_FLOAT64 : dtype;
}
/* td_dtype_complex is the complex dtype with parts of a dtype: complex128 of float64, else
 * complex64. A complex dtype is its own. */
static inline td_dtype
td_dtype_complex(td_dtype dtype) {
  return td_dtype_real(dtype) == TD_FLOAT64 ? TD_COMPLEX128 : TD_COMPLEX64;
}
/* td_dtype_is_differentiable: tensors of this dtype may have gradients. */
static inline bool
td_dtype_is_differentiable(td_dtype dtype) {
  return td_dtype_is_floating(dtype) || td_dtype_is_complex(dtype);
}

/* TD_DISPATCH runs its block with T as the C type of a real dtype, or the compute type.
 * TD_DISPATCH_ALL knows the complex dtypes as well; they have no order, so x < y does not compile.
 * TD_DISPATCH_FLOATING knows the floating dtypes alone. For any other dtype the block does not run:
 * the caller has refused it. */
#define TD_DISPATCH_TYPE(type, ...)                                                                \
  {                                                                                                \
    typedef type T;                                                                                \
    __VA_ARGS__                                                                                    \
  }                                                                                                \
  break;
#define TD_CASE_FLOAT32                                                                            \
  case TD_FLOAT32:                                                                                 \
  case TD_FLOAT16:                                                                                 \
  case TD_BFLOAT16:
#define TD_CASE_INT64                                                                              \
  case TD_INT64:                                                                                   \
  case TD_UINT8:                                                                                   \
  case TD_INT8:                                                                                    \
  case TD_INT16:
#define TD_DISPATCH_FLOATS(...)                                                                    \
  TD_CASE_FLOAT32 TD_DISPATCH_TYPE(float, __VA_ARGS__) case TD_FLOAT64                             \
      : TD_DISPATCH_TYPE(double, __VA_ARGS__)
#define TD_DISPATCH_REALS(...)                                                                     \
  TD_DISPATCH_FLOATS(__VA_ARGS__)                                                                  \
  TD_CASE_INT64 TD_DISPATCH_TYPE(int64_t, __VA_ARGS__) case TD_INT32                               \
      : TD_DISPATCH_TYPE(int32_t, __VA_ARGS__) case TD_BOOL : TD_DISPATCH_TYPE(bool, __VA_ARGS__)
#define TD_DISPATCH_COMPLEX(...)                                                                   \
  case TD_COMPLEX64:                                                                               \
    TD_DISPATCH_TYPE(td_complex64, __VA_ARGS__)                                                    \
  case TD_COMPLEX128:                                                                              \
    TD_DISPATCH_TYPE(td_complex128, __VA_ARGS__)
#define TD_DISPATCH_OVER(dtype, cases)                                                             \
  switch (dtype) { cases default : break; }
#define TD_DISPATCH(dtype, ...) TD_DISPATCH_OVER(dtype, TD_DISPATCH_REALS(__VA_ARGS__))
#define TD_DISPATCH_ALL(dtype, ...)                                                                \
  TD_DISPATCH_OVER(dtype, TD_DISPATCH_REALS(__VA_ARGS__) TD_DISPATCH_COMPLEX(__VA_ARGS__))
#define TD_DISPATCH_FLOATING(dtype, ...) TD_DISPATCH_OVER(dtype, TD_DISPATCH_FLOATS(__VA_ARGS__))
