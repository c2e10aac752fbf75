/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Matrix products of plain arrays. The sum over k goes in order, so results do not depend on sizes
 * of blocks. */
#pragma once

#include "engine/tensor/tensor.h"

/* A matrix of elements of one dtype; steps in elements. */
typedef struct td_matrix {
  void *data; /* (borrowed) */
  int64_t row_step, column_step;
} td_matrix;

/* td_gemm writes c = a b, or c += a b, with a [n, k], b [k, m], c [n, m]. Floating dtypes and
 * int64. */
void td_gemm(td_dtype dtype, int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b, td_matrix c,
             bool accumulate);
