/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/linalg/gemm.h"

#include "engine/base/alloc.h"
#include "engine/torch/ops/linalg/blas.h"
#include "engine/torch/tensor/walk.h"

#include <assert.h>
#include <cblas.h>
#include <stdbool.h>

/* What BLAS wants to know of an operand; `copy` holds it where it lay too scattered. */
typedef struct operand {
  enum CBLAS_TRANSPOSE transposed;
  blasint leading;
  const void *data; /* (borrowed) */
  void *copy;       /* (owned) or NULL */
} operand;

/* Rows (or columns) whose elements are neighbours and that do not overlap. A single one may have
 * any step. */
static bool
has_lines(int64_t n_lines, int64_t length, int64_t line_step, int64_t element_step) {
  return (element_step == 1 || length <= 1) && (line_step >= TD_MAX(length, 1) || n_lines <= 1);
}

static void *
copy_rows(td_dtype dtype, int64_t rows, int64_t columns, td_matrix from) {
  void *copy = td_alloc((size_t)(rows * columns), td_dtype_size(dtype));
  TD_DISPATCH_FLOATING(
      dtype, T *to = copy; const T *data = from.data;
      for (int64_t r = 0; r < rows; r++) for (int64_t c = 0; c < columns; c++) *to++ =
          data[r * from.row_step + c * from.column_step];)
  return copy;
}

static operand
operand_of(td_dtype dtype, int64_t rows, int64_t columns, td_matrix matrix) {
  operand operand = {.transposed = CblasNoTrans, .data = matrix.data};
  int64_t step = matrix.row_step, least = columns;
  if (!has_lines(rows, columns, matrix.row_step, matrix.column_step)) {
    step = columns;
    if (has_lines(columns, rows, matrix.column_step, matrix.row_step)) {
      operand.transposed = CblasTrans;
      step = matrix.column_step, least = rows;
    } else
      operand.data = operand.copy = copy_rows(dtype, rows, columns, matrix);
  }
  operand.leading = (blasint)TD_MAX(step, TD_MAX(least, 1));
  return operand;
}

static void
gemm_floating(td_dtype dtype, int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b,
              td_matrix c, bool accumulate) {
  operand left = operand_of(dtype, n, k, a), right = operand_of(dtype, k, m, b);
  blasint step = (blasint)TD_MAX(c.row_step, TD_MAX(m, 1));
  td_blas_enter();
  if (dtype == TD_FLOAT32)
    cblas_sgemm(CblasRowMajor, left.transposed, right.transposed, (blasint)n, (blasint)m,
                (blasint)k, 1, left.data, left.leading, right.data, right.leading, accumulate,
                c.data, step);
  else
    cblas_dgemm(CblasRowMajor, left.transposed, right.transposed, (blasint)n, (blasint)m,
                (blasint)k, 1, left.data, left.leading, right.data, right.leading, accumulate,
                c.data, step);
  td_blas_leave();
  free(left.copy);
  free(right.copy);
}

/* What BLAS has not, or what is too rare to be asked of it. */
#define DEFINE_GEMM(T)                                                                             \
  static void gemm_##T(int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b, td_matrix c,     \
                       bool accumulate) {                                                          \
    for (int64_t row = 0; row < n; row++)                                                          \
      for (int64_t column = 0; column < m; column++) {                                             \
        const T *x = (const T *)a.data + row * a.row_step;                                         \
        const T *y = (const T *)b.data + column * b.column_step;                                   \
        T *to = (T *)c.data + row * c.row_step + column * c.column_step, sum = 0;                  \
        for (int64_t i = 0; i < k; i++)                                                            \
          sum += x[i * a.column_step] * y[i * b.row_step];                                         \
        *to = accumulate ? *to + sum : sum;                                                        \
      }                                                                                            \
  }
DEFINE_GEMM(int32_t)
DEFINE_GEMM(int64_t)
DEFINE_GEMM(td_complex64)
DEFINE_GEMM(td_complex128)

static void
gemm_other(td_dtype dtype, int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b, td_matrix c,
           bool accumulate) {
  switch (dtype) {
  case TD_INT32:
    return gemm_int32_t(n, k, m, a, b, c, accumulate);
  case TD_INT64:
    return gemm_int64_t(n, k, m, a, b, c, accumulate);
  case TD_COMPLEX64:
    return gemm_td_complex64(n, k, m, a, b, c, accumulate);
  case TD_COMPLEX128:
    return gemm_td_complex128(n, k, m, a, b, c, accumulate);
  default:
    assert(!"no product of this dtype");
  }
}

static td_matrix
transposed(td_matrix matrix) {
  return (td_matrix){matrix.data, matrix.column_step, matrix.row_step};
}

void
td_gemm(td_dtype dtype, int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b, td_matrix c,
        bool accumulate) {
  if (!c.data) return;                     /* the meta device */
  if (n == 0 || m == 0 || !c.data) return; /* without data: on the meta device */
  if (!td_dtype_is_floating(dtype))
    gemm_other(dtype, n, k, m, a, b, c, accumulate);
  else if (has_lines(n, m, c.row_step, c.column_step))
    gemm_floating(dtype, n, k, m, a, b, c, accumulate);
  else
    gemm_floating(dtype, m, k, n, transposed(b), transposed(a), transposed(c), accumulate);
}
