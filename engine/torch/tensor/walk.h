/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Walk: the loop over the elements of several strided tensors at once, broadcast to common sizes.
 * It merges dimensions if it can, so that a kernel sees few long rows. Contiguous tensors have one
 * row.
 *
 *   td_walk walk;
 *   td_walk_init(&walk, n_dims, sizes, 2, (const td_tensor *[]){out, a});
 *   while (td_walk_row(&walk)) {
 *     float *o = walk.at[0];
 *     const float *x = walk.at[1];
 *     for (int64_t i = 0; i < walk.n; i++) o[i * walk.step[0]] = f(x[i * walk.step[1]]);
 *   }
 *
 * A walk belongs to one thread. Rows come in row-major order. A walk over a tensor of the meta
 * device has no rows. */
#pragma once

#include "engine/torch/tensor/tensor.h"

#define TD_WALK_MAX 4
#define TD_WALK_PART 256 /* elements of a row that a walk converts at once */

/* How a walk shows elements of a storage dtype: Note [Compute types] in dtype.h. A row comes in
 * parts, and `elements` holds the part in the compute type. */
typedef struct td_walk_parts {
  bool used[TD_WALK_MAX]; /* the tensor has a storage dtype */
  int n_written;          /* the first tensors, which are stored again */
  td_dtype dtypes[TD_WALK_MAX];
  void *row[TD_WALK_MAX];    /* the row's first element in memory */
  int64_t step[TD_WALK_MAX]; /* in memory, in elements */
  int64_t n, done;           /* of the row; before this part */
  _Alignas(32) char elements[TD_WALK_MAX][TD_WALK_PART * sizeof(int64_t)];
} td_walk_parts;

typedef struct td_walk {
  void *at[TD_WALK_MAX];     /* the row's first element of each tensor */
  int64_t step[TD_WALK_MAX]; /* from an element of a row to the next, in elements */
  int64_t n;                 /* elements of a row */
  bool dense;                /* every step is 1 */

  int n_tensors, n_dims; /* dimensions outside the row */
  bool started, empty;
  int64_t sizes[TD_MAX_DIMS], index[TD_MAX_DIMS];
  int64_t strides[TD_WALK_MAX][TD_MAX_DIMS]; /* in bytes */
  bool in_parts;                             /* some tensor has a storage dtype */
  td_walk_parts parts;                       /* not initialized otherwise */
} td_walk;

/* td_walk_init prepares a walk over `sizes`. It repeats a tensor along dimensions that the tensor
 * lacks, or has with size 1. The caller has checked that the sizes fit. td_walk_init launches a
 * kernel (launch.h) with the name of the calling function. The kernel writes the first tensor; that
 * of td_walk_init_reading writes none. If a device does the kernel's work, there are no rows. */
void td_walk_init_with(td_walk *walk, const char *kernel, double parameter, int n_written,
                       int n_dims, const int64_t *sizes, int n_tensors,
                       const td_tensor *const *tensors);
#define td_walk_init_named(walk, kernel, ...) td_walk_init_with(walk, kernel, 1, __VA_ARGS__)
#define td_walk_init(walk, ...) td_walk_init_named(walk, __func__, 1, __VA_ARGS__)
#define td_walk_init_reading(walk, ...) td_walk_init_named(walk, __func__, 0, __VA_ARGS__)

/* td_walk_init_lines prepares a walk over lines along dimension `dim`: it visits the first element
 * of each line. The tensors have the same sizes in the other dimensions, and no storage dtype. */
void td_walk_init_lines_named(td_walk *walk, const char *kernel, int dim, int n_tensors,
                              const td_tensor *const *tensors);
#define td_walk_init_lines(walk, ...) td_walk_init_lines_named(walk, __func__, __VA_ARGS__)

/* td_walk_row moves to the next row, false after the last. */
bool td_walk_row(td_walk *walk);
