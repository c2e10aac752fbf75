/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Walk: the loop over the elements of several strided tensors at once, broadcast to common sizes.
 * It merges the dimensions that it can, so that a kernel sees few long rows: one for contiguous
 * tensors.
 *
 *   td_walk walk;
 *   td_walk_init(&walk, n_dims, sizes, 2, (const td_tensor *[]){out, a});
 *   while (td_walk_row(&walk)) {
 *     float *o = walk.at[0];
 *     const float *x = walk.at[1];
 *     for (int64_t i = 0; i < walk.n; i++) o[i * walk.step[0]] = f(x[i * walk.step[1]]);
 *   }
 *
 * On one thread's stack. Rows come in row-major order. A walk that meets a tensor of the meta
 * device has no rows. */
#pragma once

#include "engine/tensor/tensor.h"

#define TD_WALK_MAX 4

typedef struct td_walk {
  void *at[TD_WALK_MAX];     /* the row's first element of each tensor */
  int64_t step[TD_WALK_MAX]; /* from an element of a row to the next, in elements */
  int64_t n;                 /* elements of a row */
  bool dense;                /* every step is 1 */

  int n_tensors, n_dims; /* dimensions outside the row */
  bool started, empty;
  int64_t sizes[TD_MAX_DIMS], index[TD_MAX_DIMS];
  int64_t strides[TD_WALK_MAX][TD_MAX_DIMS]; /* in bytes */
} td_walk;

/* td_walk_init prepares a walk over `sizes`. A tensor with fewer dimensions, or with size 1 where
 * `sizes` has more, is repeated; the caller has checked that they fit. It launches a kernel
 * (launch.h) by the calling function's name, which writes the first tensor; after
 * td_walk_init_reading it writes none. A device may do the kernel's work: then there are no rows.
 */
void td_walk_init_with(td_walk *walk, const char *kernel, double parameter, int n_written,
                       int n_dims, const int64_t *sizes, int n_tensors,
                       const td_tensor *const *tensors);
#define td_walk_init_named(walk, kernel, ...) td_walk_init_with(walk, kernel, 1, __VA_ARGS__)
#define td_walk_init(walk, ...) td_walk_init_named(walk, __func__, 1, __VA_ARGS__)
#define td_walk_init_reading(walk, ...) td_walk_init_named(walk, __func__, 0, __VA_ARGS__)

/* td_walk_init_lines prepares a walk over the first elements of the lines along dimension `dim` of
 * tensors with the same sizes everywhere else. */
void td_walk_init_lines_named(td_walk *walk, const char *kernel, int dim, int n_tensors,
                              const td_tensor *const *tensors);
#define td_walk_init_lines(walk, ...) td_walk_init_lines_named(walk, __func__, __VA_ARGS__)

/* td_walk_row moves to the next row, false after the last. */
bool td_walk_row(td_walk *walk);

/* TD_DISPATCH runs its block with T as the C type of a dtype: of the real ones, TD_DISPATCH_ALL of
 * the complex ones too (which have no order: x < y is not C), TD_DISPATCH_FLOATING of those with
 * fractions. The caller has refused other dtypes: for them the block does not run. */
#define TD_DISPATCH_CASE(name, type, ...)                                                          \
  case TD_##name: {                                                                                \
    typedef type T;                                                                                \
    __VA_ARGS__                                                                                    \
  } break;
#define TD_DISPATCH_REALS(...)                                                                     \
  TD_DISPATCH_CASE(FLOAT32, float, __VA_ARGS__)                                                    \
  TD_DISPATCH_CASE(FLOAT64, double, __VA_ARGS__)                                                   \
  TD_DISPATCH_CASE(INT64, int64_t, __VA_ARGS__)                                                    \
  TD_DISPATCH_CASE(INT32, int32_t, __VA_ARGS__)                                                    \
  TD_DISPATCH_CASE(BOOL, bool, __VA_ARGS__)
#define TD_DISPATCH(dtype, ...)                                                                    \
  switch (dtype) {                                                                                 \
    TD_DISPATCH_REALS(__VA_ARGS__)                                                                 \
  default:                                                                                         \
    break;                                                                                         \
  }
#define TD_DISPATCH_ALL(dtype, ...)                                                                \
  switch (dtype) {                                                                                 \
    TD_DISPATCH_REALS(__VA_ARGS__)                                                                 \
    TD_DISPATCH_CASE(COMPLEX64, td_complex64, __VA_ARGS__)                                         \
    TD_DISPATCH_CASE(COMPLEX128, td_complex128, __VA_ARGS__)                                       \
  default:                                                                                         \
    break;                                                                                         \
  }
#define TD_DISPATCH_FLOATING(dtype, ...)                                                           \
  switch (dtype) {                                                                                 \
    TD_DISPATCH_CASE(FLOAT32, float, __VA_ARGS__)                                                  \
    TD_DISPATCH_CASE(FLOAT64, double, __VA_ARGS__)                                                 \
  default:                                                                                         \
    break;                                                                                         \
  }
