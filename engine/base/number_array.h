/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An array of numbers in memory, described by address, type, sizes and strides. A description
 * borrows everything that it points to. Any thread. */
#pragma once

#include <stdint.h>

/* X(constant, bytes of an element, name as PyTorch prints it) */
#define TD_NUMBER_TYPES(X)                                                                         \
  X(FLOAT16, 2, "torch.float16")                                                                   \
  X(BFLOAT16, 2, "torch.bfloat16")                                                                 \
  X(FLOAT32, 4, "torch.float32")                                                                   \
  X(FLOAT64, 8, "torch.float64")                                                                   \
  X(COMPLEX32, 4, "torch.complex32")                                                               \
  X(COMPLEX64, 8, "torch.complex64")                                                               \
  X(COMPLEX128, 16, "torch.complex128")                                                            \
  X(BOOL, 1, "torch.bool")                                                                         \
  X(UINT8, 1, "torch.uint8")                                                                       \
  X(INT8, 1, "torch.int8")                                                                         \
  X(INT16, 2, "torch.int16")                                                                       \
  X(INT32, 4, "torch.int32")                                                                       \
  X(INT64, 8, "torch.int64")

typedef enum td_number_type {
#define X(name, n_bytes, text) TD_NUMBER_##name,
  TD_NUMBER_TYPES(X)
#undef X
      TD_N_NUMBER_TYPES /* also stands for an unknown type */
} td_number_type;

#define TD_NUMBERS_MAX_DIMS 64 /* PyTorch's greatest number of dimensions */

typedef struct td_numbers {
  const void *data; /* (borrowed) the first element; may be NULL if there is none */
  td_number_type type;
  int n_dims;
  const int64_t *sizes, *strides; /* (borrowed) [n_dims]; strides in elements, 0 repeats */
} td_numbers;
