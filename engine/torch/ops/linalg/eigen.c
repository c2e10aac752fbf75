/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/linalg/decompose.h"
#include "engine/torch/ops/linalg/lapack.h"
#include "engine/torch/ops/linalg/lapack_matrix.h"

/* Overwrites m with its eigenvectors. */
static int
find_symmetric(td_lapack_matrix *m, double *values) {
  int n = m->rows, n_work = 1 + 6 * n + 2 * n * n, n_whole = 3 + 5 * n, info;
  double *work = td_new_numbers((int64_t)n_work * m->width), *real_work = td_new_numbers(n_work);
  int *whole = td_new_whole_numbers(n_whole);
  if (m->width == 2)
    zheevd_("V", "L", &n, m->at, &m->stride, values, work, &n_work, real_work, &n_work, whole,
            &n_whole, &info, 1, 1);
  else
    dsyevd_("V", "L", &n, m->at, &m->stride, values, work, &n_work, whole, &n_whole, &info, 1, 1);
  free(work);
  free(real_work);
  free(whole);
  return info;
}

td_status
td_op_eigh(td_tensor *self, td_tensor ***out, uint32_t *n_out, td_error *error) {
  int64_t n = td_rows_of(self);
  TD_LOCAL(values);
  TD_LOCAL(vectors);
  TD_LOCAL(info);
  TD_TRY(td_lapack_beside(self, td_dtype_real(self->dtype), n, -1, &values, error));
  TD_TRY(td_lapack_beside(self, self->dtype, n, n, &vectors, error));
  TD_TRY(td_lapack_info_beside(self, &info, error));
  if (TD_LAUNCH("linalg_eigh", 3, values, vectors, info, self))
    for (int64_t i = 0; i < td_n_matrices(self); i++) {
      td_lapack_matrix m = td_lapack_load(self, i);
      double *found = td_new_numbers(n);
      td_tensor_set(info, i, find_symmetric(&m, found));
      td_lapack_store_vector(values, i, found, n, 1);
      td_lapack_store(vectors, i, &m);
      free(found);
      free(m.at);
    }
  return td_lapack_give((td_tensor **[]){&values, &vectors, &info}, 3, out, n_out);
}

/* Two conjugate values have the parts of one vector in two columns. */
static void
join_parts(const double *real, const double *imaginary, const td_lapack_matrix *parts,
           double *values, td_lapack_matrix *vectors) {
  int n = parts->rows;
  for (int j = 0; j < n; j++) {
    bool is_first = imaginary[j] > 0, is_second = imaginary[j] < 0;
    const double *whole = &parts->at[(size_t)(j - is_second) * (size_t)n];
    values[2 * j] = real[j];
    values[2 * j + 1] = imaginary[j];
    for (int i = 0; i < n; i++) {
      double *to = &vectors->at[2 * ((size_t)j * (size_t)n + (size_t)i)];
      to[0] = whole[i];
      to[1] = is_first ? whole[n + i] : is_second ? -whole[n + i] : 0;
    }
  }
}

/* `values` are n complex numbers. */
static int
find_any(td_lapack_matrix *m, double *values, td_lapack_matrix *vectors) {
  int n = m->rows, n_work = 64 * TD_MAX(n, 1), info;
  double *work = td_new_numbers((int64_t)n_work * m->width), *real = td_new_numbers(2 * (int64_t)n);
  td_lapack_matrix parts = td_lapack_new(n, n, m->width);
  if (m->width == 2) {
    zgeev_("N", "V", &n, m->at, &m->stride, values, NULL, &m->stride, vectors->at, &vectors->stride,
           work, &n_work, real, &info, 1, 1);
  } else {
    dgeev_("N", "V", &n, m->at, &m->stride, real, real + n, NULL, &m->stride, parts.at,
           &parts.stride, work, &n_work, &info, 1, 1);
    join_parts(real, real + n, &parts, values, vectors);
  }
  free(work);
  free(real);
  free(parts.at);
  return info;
}

td_status
td_op_eig(td_tensor *self, td_tensor ***out, uint32_t *n_out, td_error *error) {
  int64_t n = td_rows_of(self);
  TD_LOCAL(values);
  TD_LOCAL(vectors);
  TD_LOCAL(info);
  TD_TRY(td_lapack_beside(self, td_dtype_complex(self->dtype), n, -1, &values, error));
  TD_TRY(td_lapack_beside(self, td_dtype_complex(self->dtype), n, n, &vectors, error));
  TD_TRY(td_lapack_info_beside(self, &info, error));
  if (TD_LAUNCH("linalg_eig", 3, values, vectors, info, self))
    for (int64_t i = 0; i < td_n_matrices(self); i++) {
      td_lapack_matrix m = td_lapack_load(self, i), found = td_lapack_new(n, n, 2);
      double *diagonal = td_new_numbers(2 * n);
      td_tensor_set(info, i, find_any(&m, diagonal, &found));
      td_lapack_store_vector(values, i, diagonal, n, 2);
      td_lapack_store(vectors, i, &found);
      free(diagonal);
      free(found.at);
      free(m.at);
    }
  return td_lapack_give((td_tensor **[]){&values, &vectors, &info}, 3, out, n_out);
}

static int
find_singular(td_lapack_matrix *m, bool full, td_lapack_matrix *u, double *values,
              td_lapack_matrix *vh) {
  int least = TD_MIN(m->rows, m->columns), most = TD_MAX(m->rows, m->columns), info;
  int n_work = 4 * least * least + 7 * least + 64 * TD_MAX(most, 1);
  double *work = td_new_numbers((int64_t)n_work * m->width);
  int *whole = td_new_whole_numbers(8 * (int64_t)least);
  const char *job = full ? "A" : "S";
  if (m->width == 2) {
    double *real = td_new_numbers(TD_MAX(5 * (int64_t)least * (least + 1),
                                         (2 * (int64_t)most + 2 * (int64_t)least + 1) * least));
    zgesdd_(job, &m->rows, &m->columns, m->at, &m->stride, values, u->at, &u->stride, vh->at,
            &vh->stride, work, &n_work, real, whole, &info, 1);
    free(real);
  } else {
    dgesdd_(job, &m->rows, &m->columns, m->at, &m->stride, values, u->at, &u->stride, vh->at,
            &vh->stride, work, &n_work, whole, &info, 1);
  }
  free(work);
  free(whole);
  return info;
}

td_status
td_op_svd(td_tensor *self, bool full, td_tensor ***out, uint32_t *n, td_error *error) {
  int64_t rows = td_rows_of(self), columns = td_columns_of(self), k = td_least_of(self);
  TD_LOCAL(u);
  TD_LOCAL(s);
  TD_LOCAL(vh);
  TD_LOCAL(info);
  TD_TRY(td_lapack_beside(self, self->dtype, rows, full ? rows : k, &u, error));
  TD_TRY(td_lapack_beside(self, td_dtype_real(self->dtype), k, -1, &s, error));
  TD_TRY(td_lapack_beside(self, self->dtype, full ? columns : k, columns, &vh, error));
  TD_TRY(td_lapack_info_beside(self, &info, error));
  if (TD_LAUNCH("linalg_svd", 4, u, s, vh, info, self))
    for (int64_t i = 0; i < td_n_matrices(self); i++) {
      td_lapack_matrix m = td_lapack_load(self, i),
                       left = td_lapack_new(rows, full ? rows : k, m.width),
                       right = td_lapack_new(full ? columns : k, columns, m.width);
      double *values = td_new_numbers(k);
      td_tensor_set(info, i, find_singular(&m, full, &left, values, &right));
      td_lapack_store(u, i, &left);
      td_lapack_store_vector(s, i, values, k, 1);
      td_lapack_store(vh, i, &right);
      free(values);
      free(left.at);
      free(right.at);
      free(m.at);
    }
  return td_lapack_give((td_tensor **[]){&u, &s, &vh, &info}, 4, out, n);
}
