/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Matrix products of plain arrays, by OpenBLAS for floating dtypes. Any thread may call. The
 * calling thread does all the work. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* A matrix of elements of one dtype. Steps are in elements; step 0 repeats a row or column. */
typedef struct td_matrix {
  void *data; /* (borrowed) */
  int64_t row_step, column_step;
} td_matrix;

/* td_gemm writes c = a b, or c += a b, with a [n, k], b [k, m], c [n, m]. The elements of a row of
 * c, or those of a column, lie side by side. Any size may be 0: the empty sum is 0. Every dtype but
 * bool. It does nothing if c has no data. */
void td_gemm(td_dtype dtype, int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b, td_matrix c,
             bool accumulate);
