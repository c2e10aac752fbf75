/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/dtype.h"

#include <string.h>

static const struct {
  const char *name, *scalar, *tensor, *cpp;
  size_t size, alignment;
} dtypes[TD_N_DTYPES] = {
#define X(name, text, ctype, scalar, cpp)                                                          \
  {text, scalar, scalar "Tensor", cpp, sizeof(ctype), _Alignof(ctype)},
    TD_DTYPES(X)
#undef X
};

size_t
td_dtype_size(td_dtype dtype) {
  return dtypes[dtype].size;
}

size_t
td_dtype_alignment(td_dtype dtype) {
  return dtypes[dtype].alignment;
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
td_dtype_scalar_name(td_dtype dtype) {
  return dtypes[dtype].scalar;
}

const char *
td_dtype_tensor_name(td_dtype dtype) {
  return dtypes[dtype].tensor;
}

const char *
td_dtype_cpp_name(td_dtype dtype) {
  return dtypes[dtype].cpp;
}

static inline uint32_t
bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float
float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* `yes` for a size below the limit. Both are computed, and the sign of a difference selects: so the
 * loops have no branches and become vectors. */
static inline uint32_t
below(uint32_t size, uint32_t limit, uint32_t yes, uint32_t no) {
  uint32_t mask = (uint32_t)((int32_t)(size - limit) >> 31);
  return (yes & mask) | (no & ~mask);
}

/* The exponent counts from another zero. A subnormal number is what it adds to 2^-14. */
static inline float
from_float16(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16, size = (uint32_t)(x & 0x7fff) << 13;
  uint32_t small = bits_of(float_of(size + (113u << 23)) - 0x1p-14f);
  uint32_t finite = below(size, 1u << 23, small, size + (112u << 23));
  return float_of(sign | below(size, 0x7c00u << 13, finite, size | 0x7f800000));
}

/* A sum with 1/2 rounds to a multiple of 2^-24, the least float16. */
static inline uint16_t
to_float16(float x) {
  uint32_t bits = bits_of(x), size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  uint32_t small = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);
  uint32_t great = below(size, 0x7f800001, 0x7c00, 0x7e00);
  uint32_t finite = below(size, 113u << 23, small, normal);
  return (uint16_t)(sign | below(size, 143u << 23, finite, great));
}

static inline float
from_bfloat16(uint16_t x) {
  return float_of((uint32_t)x << 16);
}

static inline uint16_t
to_bfloat16(float x) {
  uint32_t bits = bits_of(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)below(bits & 0x7fffffff, 0x7f800001, rounded, 0x7fc0);
}

/* X(dtype, C type, compute type, from it, to it) */
#define STORAGE_DTYPES(X)                                                                          \
  X(FLOAT16, uint16_t, float, from_float16, to_float16)                                            \
  X(BFLOAT16, uint16_t, float, from_bfloat16, to_bfloat16)                                         \
  X(UINT8, uint8_t, int64_t, (int64_t), (uint8_t))                                                 \
  X(INT8, int8_t, int64_t, (int64_t), (int8_t))                                                    \
  X(INT16, int16_t, int64_t, (int64_t), (int16_t))

void
td_dtype_load(td_dtype dtype, void *restrict to, const void *restrict from, int64_t step,
              int64_t n) {
#define X(name, ctype, compute, from_it, to_it)                                                    \
  if (dtype == TD_##name && step == 1)                                                             \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((compute *)to)[i] = from_it(((const ctype *)from)[i]);                                      \
  else if (dtype == TD_##name)                                                                     \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((compute *)to)[i] = from_it(((const ctype *)from)[i * step]);
  STORAGE_DTYPES(X)
#undef X
}

void
td_dtype_store(td_dtype dtype, void *restrict to, const void *restrict from, int64_t step,
               int64_t n) {
#define X(name, ctype, compute, from_it, to_it)                                                    \
  if (dtype == TD_##name && step == 1)                                                             \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((ctype *)to)[i] = to_it(((const compute *)from)[i]);                                        \
  else if (dtype == TD_##name)                                                                     \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((ctype *)to)[i * step] = to_it(((const compute *)from)[i]);
  STORAGE_DTYPES(X)
#undef X
}

double
td_dtype_round(td_dtype dtype, double value) {
  float single = (float)value;
  if (!td_dtype_is_half(dtype)) return value;
  uint16_t bits;
  td_dtype_store(dtype, &bits, &single, 1, 1);
  td_dtype_load(dtype, &single, &bits, 1, 1);
  return (double)single;
}
