/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/linalg/lapack_matrix.h"

#include "engine/torch/ops/base/op.h"

#include <complex.h>

int64_t
td_rows_of(const td_tensor *t) {
  return t->sizes[t->n_dims - 2];
}
int64_t
td_columns_of(const td_tensor *t) {
  return t->sizes[t->n_dims - 1];
}
int64_t
td_least_of(const td_tensor *t) {
  return TD_MIN(td_rows_of(t), td_columns_of(t));
}
int64_t
td_n_matrices(const td_tensor *t) {
  int64_t n = 1;
  for (int dim = 0; dim < t->n_dims - 2; dim++)
    n *= t->sizes[dim];
  return n;
}

static int
width_of(const td_tensor *t) {
  return td_dtype_is_complex(t->dtype) ? 2 : 1;
}

double *
td_new_numbers(int64_t n) {
  return TD_NEW_N(double, (size_t)TD_MAX(n, 1));
}

int *
td_new_whole_numbers(int64_t n) {
  return TD_NEW_N(int, (size_t)TD_MAX(n, 1));
}

td_lapack_matrix
td_lapack_new(int64_t rows, int64_t columns, int width) {
  return (td_lapack_matrix){(int)rows, (int)columns, (int)TD_MAX(rows, 1), width,
                            td_new_numbers(rows * columns * width)};
}

td_lapack_matrix
td_lapack_load(const td_tensor *t, int64_t number) {
  td_lapack_matrix m = td_lapack_new(td_rows_of(t), td_columns_of(t), width_of(t));
  double *to = m.at;
  for (int64_t j = 0; j < m.columns; j++)
    for (int64_t i = 0; i < m.rows; i++, to += m.width) {
      int64_t from = (number * m.rows + i) * m.columns + j;
      if (m.width == 1) {
        *to = td_tensor_get(t, from);
      } else {
        td_complex128 value = td_tensor_get_complex(t, from);
        to[0] = creal(value), to[1] = cimag(value);
      }
    }
  return m;
}

static void
put(td_tensor *t, int64_t to, const double *from, int width) {
  if (width == 1)
    td_tensor_set(t, to, *from);
  else
    td_tensor_set_complex(t, to, CMPLX(from[0], from[1]));
}

void
td_lapack_store(td_tensor *t, int64_t number, const td_lapack_matrix *m) {
  int64_t rows = td_rows_of(t), columns = td_columns_of(t);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      put(t, (number * rows + i) * columns + j, &m->at[(j * m->rows + i) * m->width], m->width);
}

void
td_lapack_store_vector(td_tensor *t, int64_t number, const double *from, int64_t n, int width) {
  for (int64_t i = 0; i < n; i++)
    put(t, number * n + i, &from[i * width], width);
}

/* LAPACK counts in int, and needs room for four times the square of the smaller size. */
td_status
td_lapack_beside(const td_tensor *like, td_dtype dtype, int64_t rows, int64_t columns,
                 td_tensor **out, td_error *error) {
  int64_t sizes[TD_MAX_DIMS];
  int n = like->n_dims - 2;
  if (td_least_of(like) > 20000 || TD_MAX(td_rows_of(like), td_columns_of(like)) > 1 << 24)
    return td_error_set(error, TD_SHAPE, "a matrix of %lld x %lld is too large to decompose",
                        (long long)td_rows_of(like), (long long)td_columns_of(like));
  memcpy(sizes, like->sizes, (size_t)n * sizeof *sizes);
  if (rows >= 0) sizes[n++] = rows;
  if (columns >= 0) sizes[n++] = columns;
  return td_tensor_new(dtype, like->device, n, sizes, out, error);
}

td_status
td_lapack_info_beside(const td_tensor *like, td_tensor **out, td_error *error) {
  return td_lapack_beside(like, TD_INT32, -1, -1, out, error);
}

td_status
td_lapack_give(td_tensor **const made[], uint32_t n_made, td_tensor ***out, uint32_t *n) {
  *n = n_made;
  *out = TD_NEW_N(td_tensor *, n_made);
  for (uint32_t i = 0; i < n_made; i++)
    (*out)[i] = TD_TAKE(*made[i]);
  return TD_OK;
}
