/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LAPACK's routines, which OpenBLAS brings without a header: d... for real matrices, z... for
 * complex ones, whose numbers are two doubles each. Fortran takes pointers alone. The lengths of
 * its words come last, and all of them are 1. Private to engine/torch/ops. */
#pragma once

#include <stddef.h>

#define TD_BOTH(real, complex, ...)                                                                \
  void real(__VA_ARGS__);                                                                          \
  void complex(__VA_ARGS__)

/* L U, with the rows that were swapped, and the solution of a system with it. */
TD_BOTH(dgetrf_, zgetrf_, const int *rows, const int *columns, double *a, const int *stride,
        int *pivots, int *info);
TD_BOTH(dgetrs_, zgetrs_, const char *turned, const int *n, const int *n_right, const double *a,
        const int *stride, const int *pivots, double *b, const int *b_stride, int *info, size_t);

/* L L^H. */
TD_BOTH(dpotrf_, zpotrf_, const char *half, const int *n, double *a, const int *stride, int *info,
        size_t);

/* Reflections that make Q R, and Q from reflections. */
TD_BOTH(dgeqrf_, zgeqrf_, const int *rows, const int *columns, double *a, const int *stride,
        double *scales, double *work, const int *n_work, int *info);
TD_BOTH(dorgqr_, zungqr_, const int *rows, const int *columns, const int *n_reflections, double *a,
        const int *stride, const double *scales, double *work, const int *n_work, int *info);

/* Eigenvalues and eigenvectors of symmetric or Hermitian matrices. */
void dsyevd_(const char *job, const char *half, const int *n, double *a, const int *stride,
             double *values, double *work, const int *n_work, int *whole_work,
             const int *n_whole_work, int *info, size_t, size_t);
void zheevd_(const char *job, const char *half, const int *n, double *a, const int *stride,
             double *values, double *work, const int *n_work, double *real_work,
             const int *n_real_work, int *whole_work, const int *n_whole_work, int *info, size_t,
             size_t);

/* Of any square matrix. dgeev has the parts of the values apart, and a column for each part of the
 * vectors of two conjugate values. */
void dgeev_(const char *left_job, const char *job, const int *n, double *a, const int *stride,
            double *real, double *imaginary, double *left, const int *left_stride, double *vectors,
            const int *vectors_stride, double *work, const int *n_work, int *info, size_t, size_t);
void zgeev_(const char *left_job, const char *job, const int *n, double *a, const int *stride,
            double *values, double *left, const int *left_stride, double *vectors,
            const int *vectors_stride, double *work, const int *n_work, double *real_work,
            int *info, size_t, size_t);

/* U S V^H. */
void dgesdd_(const char *job, const int *rows, const int *columns, double *a, const int *stride,
             double *values, double *u, const int *u_stride, double *vh, const int *vh_stride,
             double *work, const int *n_work, int *whole_work, int *info, size_t);
void zgesdd_(const char *job, const int *rows, const int *columns, double *a, const int *stride,
             double *values, double *u, const int *u_stride, double *vh, const int *vh_stride,
             double *work, const int *n_work, double *real_work, int *whole_work, int *info,
             size_t);
