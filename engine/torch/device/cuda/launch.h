/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the program hands to the CUDA module: a kernel over operands, or a product of matrices. This
 * header is C and C++. */
#pragma once

#include <stdint.h>

#define TD_CUDA_MAX_DIMS 8
#define TD_CUDA_MAX_OPERANDS 4

/* The dtypes that kernels know; the numbers are those of td_dtype. */
typedef enum td_cuda_dtype {
  TD_CUDA_FLOAT32,
  TD_CUDA_FLOAT64,
  TD_CUDA_INT64,
  TD_CUDA_BOOL,
  TD_CUDA_INT32,
  TD_CUDA_N_DTYPES
} td_cuda_dtype;

/* A tensor as a kernel sees it. Strides are in elements, and 0 in dimensions that repeat. If data
 * is NULL, every element is `number`. */
typedef struct td_cuda_operand {
  void *data;
  double number;
  int32_t dtype;
  int64_t strides[TD_CUDA_MAX_DIMS];
} td_cuda_operand;

/* One kernel over `sizes`: operand 0 is written. */
typedef struct td_cuda_launch {
  int32_t kernel; /* a number that `find` returned */
  int32_t n_dims, n_operands;
  int64_t sizes[TD_CUDA_MAX_DIMS];
  double parameter; /* the value of fill, the factor of add's second summand */
  td_cuda_operand operands[TD_CUDA_MAX_OPERANDS];
} td_cuda_launch;

/* c [n, m] = a [n, k] b [k, m], n_batches times. Steps are in elements. float32 and float64. */
typedef struct td_cuda_product {
  int32_t dtype;
  int64_t n_batches, n, k, m;
  struct {
    void *data;
    int64_t batch, row, column;
  } a, b, c;
} td_cuda_product;
