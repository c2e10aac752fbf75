/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Matrices as LAPACK has them, of tensors [..., rows, columns], and tensors of what it finds.
 * Private to engine/torch/ops. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* One matrix, column by column. */
typedef struct td_lapack_matrix {
  int rows, columns, stride;
  int width;  /* doubles of an element: 2 if it is complex */
  double *at; /* (owned) */
} td_lapack_matrix;

/* One of LAPACK's routines: for real or for complex elements. */
#define TD_LAPACK_OF(m, real, complex) ((m)->width == 2 ? (complex) : (real))

/* The sizes of the last two dimensions, the smaller one, and the number of matrices before them. */
int64_t td_rows_of(const td_tensor *t);
int64_t td_columns_of(const td_tensor *t);
int64_t td_least_of(const td_tensor *t);
int64_t td_n_matrices(const td_tensor *t);

/* Room for n numbers, which the caller frees. */
double *td_new_numbers(int64_t n);
int *td_new_whole_numbers(int64_t n);

td_lapack_matrix td_lapack_new(int64_t rows, int64_t columns, int width);

/* td_lapack_load reads one of t's matrices. */
td_lapack_matrix td_lapack_load(const td_tensor *t, int64_t number);

/* td_lapack_store writes the first rows and columns of m, as many as t has. td_lapack_store_vector
 * writes n elements into a tensor [..., n]. */
void td_lapack_store(td_tensor *t, int64_t number, const td_lapack_matrix *m);
void td_lapack_store_vector(td_tensor *t, int64_t number, const double *from, int64_t n, int width);

/* td_lapack_beside makes a tensor beside `like`, with other last dimensions; rows or columns < 0:
 * without that one. It refuses what LAPACK cannot count. td_lapack_info_beside: a number (int32)
 * for each matrix. */
td_status td_lapack_beside(const td_tensor *like, td_dtype dtype, int64_t rows, int64_t columns,
                           td_tensor **out, td_error *error);
td_status td_lapack_info_beside(const td_tensor *like, td_tensor **out, td_error *error);

/* td_lapack_give moves the references of `made` into a new array. */
td_status td_lapack_give(td_tensor **const made[], uint32_t n_made, td_tensor ***out, uint32_t *n);
