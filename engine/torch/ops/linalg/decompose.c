/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/linalg/decompose.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/linalg/lapack.h"
#include "engine/torch/ops/linalg/lapack_matrix.h"

#include <cblas.h>
#include <complex.h>

/* ---- equations ---- */

static int
factor(td_lapack_matrix *m, int *pivots) {
  int info;
  TD_LAPACK_OF(m, dgetrf_, zgetrf_)(&m->rows, &m->columns, m->at, &m->stride, pivots, &info);
  return info;
}

td_status
td_op_lu(td_tensor *self, td_tensor ***out, uint32_t *n, td_error *error) {
  int64_t k = td_least_of(self);
  TD_LOCAL(lu);
  TD_LOCAL(pivots);
  TD_LOCAL(info);
  TD_TRY(td_lapack_beside(self, self->dtype, td_rows_of(self), td_columns_of(self), &lu, error));
  TD_TRY(td_lapack_beside(self, TD_INT32, k, -1, &pivots, error));
  TD_TRY(td_lapack_info_beside(self, &info, error));
  if (TD_LAUNCH("linalg_lu_factor", 3, lu, pivots, info, self))
    for (int64_t i = 0; i < td_n_matrices(self); i++) {
      td_lapack_matrix m = td_lapack_load(self, i);
      int *swaps = td_new_whole_numbers(k);
      td_tensor_set(info, i, factor(&m, swaps));
      td_lapack_store(lu, i, &m);
      for (int64_t j = 0; j < k; j++)
        td_tensor_set(pivots, i * k + j, swaps[j]);
      free(swaps);
      free(m.at);
    }
  return td_lapack_give((td_tensor **[]){&lu, &pivots, &info}, 3, out, n);
}

/* Overwrites b with the solution. */
static void
solve_with(const td_lapack_matrix *factors, const int *swaps, td_lapack_matrix *b) {
  int info;
  TD_LAPACK_OF(factors, dgetrs_, zgetrs_)
  ("N", &factors->rows, &b->columns, factors->at, &factors->stride, swaps, b->at, &b->stride, &info,
   1);
}

td_status
td_op_lu_solve(td_tensor *lu, td_tensor *pivots, td_tensor *b, td_tensor **x, td_error *error) {
  int64_t n = td_rows_of(lu);
  TD_TRY(td_lapack_beside(b, b->dtype, n, td_columns_of(b), x, error));
  if (!TD_LAUNCH("linalg_lu_solve", 1, *x, lu, pivots, b)) return TD_OK;
  int *swaps = td_new_whole_numbers(n);
  for (int64_t i = 0; i < td_n_matrices(lu); i++) {
    td_lapack_matrix factors = td_lapack_load(lu, i), right = td_lapack_load(b, i);
    for (int64_t j = 0; j < n; j++) {
      double row = td_tensor_get(pivots, i * n + j);
      swaps[j] = row >= 1 && row <= (double)n ? (int)row : (int)j + 1;
    }
    solve_with(&factors, swaps, &right);
    td_lapack_store(*x, i, &right);
    free(factors.at);
    free(right.at);
  }
  free(swaps);
  return TD_OK;
}

td_status
td_op_solve(td_tensor *a, td_tensor *b, td_tensor **x, td_tensor **info, td_error *error) {
  int64_t n = td_rows_of(a);
  TD_TRY(td_lapack_beside(b, b->dtype, n, td_columns_of(b), x, error));
  TD_TRY(td_lapack_info_beside(a, info, error));
  if (!TD_LAUNCH("linalg_solve_ex", 2, *x, *info, a, b)) return TD_OK;
  int *swaps = td_new_whole_numbers(n);
  for (int64_t i = 0; i < td_n_matrices(a); i++) {
    td_lapack_matrix m = td_lapack_load(a, i), right = td_lapack_load(b, i);
    td_tensor_set(*info, i, factor(&m, swaps));
    solve_with(&m, swaps, &right);
    td_lapack_store(*x, i, &right);
    free(m.at);
    free(right.at);
  }
  free(swaps);
  return TD_OK;
}

td_status
td_op_triangular_solve(td_tensor *a, td_tensor *b, bool upper, bool unit, td_tensor **x,
                       td_error *error) {
  CBLAS_UPLO half = upper ? CblasUpper : CblasLower;
  CBLAS_DIAG diagonal = unit ? CblasUnit : CblasNonUnit;
  const double one[2] = {1, 0};
  TD_TRY(td_lapack_beside(b, b->dtype, td_rows_of(b), td_columns_of(b), x, error));
  if (!TD_LAUNCH("linalg_solve_triangular", 1, *x, a, b)) return TD_OK;
  for (int64_t i = 0; i < td_n_matrices(a); i++) {
    td_lapack_matrix m = td_lapack_load(a, i), right = td_lapack_load(b, i);
    if (m.width == 2)
      cblas_ztrsm(CblasColMajor, CblasLeft, half, CblasNoTrans, diagonal, right.rows, right.columns,
                  one, m.at, m.stride, right.at, right.stride);
    else
      cblas_dtrsm(CblasColMajor, CblasLeft, half, CblasNoTrans, diagonal, right.rows, right.columns,
                  1, m.at, m.stride, right.at, right.stride);
    td_lapack_store(*x, i, &right);
    free(m.at);
    free(right.at);
  }
  return TD_OK;
}

/* ---- factors ---- */

/* Zeros above the diagonal, or below it. */
static void
clear_half(td_lapack_matrix *m, bool above) {
  for (int64_t j = 0; j < m->columns; j++)
    for (int64_t i = 0; i < m->rows; i++)
      if (above ? i < j : i > j)
        memset(&m->at[(j * m->rows + i) * m->width], 0, (size_t)m->width * sizeof *m->at);
}

td_status
td_op_cholesky(td_tensor *self, td_tensor **out, td_tensor **info, td_error *error) {
  TD_TRY(td_lapack_beside(self, self->dtype, td_rows_of(self), td_columns_of(self), out, error));
  TD_TRY(td_lapack_info_beside(self, info, error));
  if (!TD_LAUNCH("linalg_cholesky_ex", 2, *out, *info, self)) return TD_OK;
  for (int64_t i = 0; i < td_n_matrices(self); i++) {
    td_lapack_matrix m = td_lapack_load(self, i);
    int told;
    TD_LAPACK_OF(&m, dpotrf_, zpotrf_)("L", &m.rows, m.at, &m.stride, &told, 1);
    clear_half(&m, true);
    td_tensor_set(*info, i, told);
    td_lapack_store(*out, i, &m);
    free(m.at);
  }
  return TD_OK;
}

/* Overwrites m with R and its reflections. Returns their scales, which the caller frees. */
static double *
reflect(td_lapack_matrix *m) {
  int n_work = 64 * TD_MAX(m->columns, 1), info;
  double *scales = td_new_numbers((int64_t)TD_MIN(m->rows, m->columns) * m->width);
  double *work = td_new_numbers((int64_t)n_work * m->width);
  TD_LAPACK_OF(m, dgeqrf_, zgeqrf_)
  (&m->rows, &m->columns, m->at, &m->stride, scales, work, &n_work, &info);
  free(work);
  return scales;
}

/* The product of m's reflections, with that many columns; the caller frees what it has. */
static td_lapack_matrix
multiply_reflections(const td_lapack_matrix *m, const double *scales, int n_reflections,
                     int64_t columns) {
  td_lapack_matrix q = td_lapack_new(m->rows, columns, m->width);
  int n_work = 64 * TD_MAX(q.columns, 1), info;
  double *work = td_new_numbers((int64_t)n_work * m->width);
  size_t n_copied = (size_t)TD_MIN(m->columns, q.columns) * (size_t)m->rows * (size_t)m->width;
  if (n_copied) memcpy(q.at, m->at, n_copied * sizeof *q.at);
  TD_LAPACK_OF(m, dorgqr_, zungqr_)
  (&q.rows, &q.columns, &n_reflections, q.at, &q.stride, scales, work, &n_work, &info);
  free(work);
  return q;
}

td_status
td_op_qr(td_tensor *self, bool full, td_tensor **q, td_tensor **r, td_error *error) {
  int64_t rows = td_rows_of(self), least = td_least_of(self), k = full ? rows : least;
  TD_TRY(td_lapack_beside(self, self->dtype, rows, k, q, error));
  TD_TRY(td_lapack_beside(self, self->dtype, k, td_columns_of(self), r, error));
  if (!TD_LAUNCH("linalg_qr", 2, *q, *r, self)) return TD_OK;
  for (int64_t i = 0; i < td_n_matrices(self); i++) {
    td_lapack_matrix m = td_lapack_load(self, i);
    double *scales = reflect(&m);
    td_lapack_matrix turned = multiply_reflections(&m, scales, (int)least, k);
    clear_half(&m, false);
    td_lapack_store(*q, i, &turned);
    td_lapack_store(*r, i, &m);
    free(scales);
    free(turned.at);
    free(m.at);
  }
  return TD_OK;
}
