/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/kernels.h"

#include "engine/torch/tensor/dense.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/layout.h"
#include "engine/torch/tensor/sparse.h"
#include "engine/torch/tensor/walk.h"

#include <stdlib.h>
#include <string.h>

void
td_kernel_copy(td_tensor *dst, const td_tensor *src) {
  if (!src->sparse) {
    td_dense_copy(dst, src);
    return;
  }
  td_kernel_fill(dst, 0);
  td_sparse_add_into_dense(dst, src, 1);
}

td_status
td_kernel_check_source(const td_tensor *tensor, td_device device, td_error *error) {
  if (device == TD_META || td_tensor_has_data(tensor)) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED, "Cannot copy out of meta tensor; no data!");
}

static td_status
copy_of(td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out, td_error *error) {
  if (tensor->sparse) return td_sparse_copy(tensor, dtype, device, out, error);
  td_status status = td_kernel_check_source(tensor, device, error);
  return status ? status : td_dense_clone(tensor, dtype, device, out, error);
}

td_status
td_kernel_contiguous(td_tensor *tensor, td_tensor **out, td_error *error) {
  if (!tensor->sparse && !td_tensor_is_contiguous(tensor))
    return copy_of(tensor, tensor->dtype, tensor->device, out, error);
  *out = td_tensor_ref(tensor);
  return TD_OK;
}

td_status
td_kernel_cast(td_tensor *tensor, td_dtype dtype, td_tensor **out, td_error *error) {
  if (tensor->dtype != dtype) return copy_of(tensor, dtype, tensor->device, out, error);
  *out = td_tensor_ref(tensor);
  return TD_OK;
}

td_status
td_kernel_to_device(td_tensor *tensor, td_device device, td_tensor **out, td_error *error) {
  if (tensor->device != device) return copy_of(tensor, tensor->dtype, device, out, error);
  *out = td_tensor_ref(tensor);
  return TD_OK;
}

td_status
td_kernel_add(const td_tensor *a, const td_tensor *b, td_tensor **out, td_error *error) {
  if (a->sparse && b->sparse) return td_sparse_add(a, b, 1, out, error);
  const td_tensor *dense = a->sparse ? b : a, *other = a->sparse ? a : b;
  td_tensor *sum;
  td_status status =
      td_tensor_laid_out(a->dtype, a->device, a->n_dims, a->sizes, 2,
                         (const td_tensor *[]){a->sparse ? b : a, b->sparse ? a : b}, &sum, error);
  if (status) return status;
  if (other->sparse) {
    td_kernel_copy(sum, dense);
    td_sparse_add_into_dense(sum, other, 1);
  } else
    td_dense_add(sum, dense, other);
  *out = sum;
  return TD_OK;
}

void
td_kernel_add_into(td_tensor *a, const td_tensor *b) {
  if (a->sparse)
    td_sparse_add_into(a, b);
  else if (b->sparse)
    td_sparse_add_into_dense(a, b, 1);
  else
    td_dense_add(a, a, b);
}

void
td_kernel_fill(td_tensor *tensor, td_complex128 value) {
  td_walk walk;
  td_walk_init_with(&walk, "fill.out", (double)value, 1, tensor->n_dims, tensor->sizes, 1,
                    (const td_tensor *[]){tensor});
  TD_DISPATCH_ALL(
      tensor->dtype, while (td_walk_row(&walk)) {
        T *to = walk.at[0];
        for (int64_t i = 0; i < walk.n; i++)
          to[i * walk.step[0]] = (T)value;
      })
}

static bool
reduces_to(const td_tensor *tensor, int n_dims, const int64_t *sizes) {
  int leading = tensor->n_dims - n_dims;
  if (leading < 0) return false;
  for (int dim = 0; dim < n_dims; dim++)
    if (sizes[dim] != 1 && sizes[dim] != tensor->sizes[leading + dim]) return false;
  return true;
}

/* A row that ends in one element is summed in lanes. Vectors make that faster, and the error grows
 * more slowly. */
#define N_LANES 16
#define SUM_ROW(T, from, step, n, total)                                                           \
  do {                                                                                             \
    T lanes[N_LANES] = {0};                                                                        \
    int64_t whole = (n) / N_LANES * N_LANES;                                                       \
    for (int64_t i = 0; i < whole; i += N_LANES)                                                   \
      for (int lane = 0; lane < N_LANES; lane++)                                                   \
        lanes[lane] += (from)[(i + lane) * (step)];                                                \
    for (int64_t i = whole; i < (n); i++)                                                          \
      lanes[i - whole] += (from)[i * (step)];                                                      \
    for (int half = N_LANES / 2; half > 0; half /= 2)                                              \
      for (int lane = 0; lane < half; lane++)                                                      \
        lanes[lane] += lanes[lane + half];                                                         \
    *(total) += lanes[0];                                                                          \
  } while (0)

void
td_kernel_sum_into(td_tensor *dst, const td_tensor *src) {
  td_walk walk;
  td_walk_init_named(&walk, "sum_into.out", 1, src->n_dims, src->sizes, 2,
                     (const td_tensor *[]){dst, src});
  TD_DISPATCH_ALL(
      src->dtype, while (td_walk_row(&walk)) {
        T *to = walk.at[0];
        const T *from = walk.at[1];
        if (walk.step[0] == 0 && walk.step[1] == 1)
          SUM_ROW(T, from, 1, walk.n, to);
        else if (walk.step[0] == 0)
          SUM_ROW(T, from, walk.step[1], walk.n, to);
        else if (walk.dense)
          for (int64_t i = 0; i < walk.n; i++)
            to[i] += from[i];
        else
          for (int64_t i = 0; i < walk.n; i++)
            to[i * walk.step[0]] += from[i * walk.step[1]];
      })
}

static td_status
refuse_sum(const td_tensor *tensor, int n_dims, const int64_t *sizes, td_error *error) {
  char *from = td_tensor_shape_text(tensor), *to = td_sizes_text(n_dims, sizes);
  td_error_set(error, TD_SHAPE, "a gradient of sizes %s cannot be summed to %s", from, to);
  free(from);
  free(to);
  return TD_SHAPE;
}

td_status
td_kernel_sum_to(td_tensor *tensor, int n_dims, const int64_t *sizes, td_tensor **out,
                 td_error *error) {
  if (!reduces_to(tensor, n_dims, sizes)) return refuse_sum(tensor, n_dims, sizes, error);
  if (n_dims == tensor->n_dims && memcmp(sizes, tensor->sizes, n_dims * sizeof *sizes) == 0) {
    *out = td_tensor_ref(tensor);
    return TD_OK;
  }
  td_tensor *sum, *dense = NULL;
  td_dtype dtype = td_dtype_compute(tensor->dtype);
  td_status status = td_tensor_new(dtype, tensor->device, n_dims, sizes, &sum, error);
  if (!status && tensor->sparse) status = td_sparse_to_dense(tensor, &dense, error);
  if (status) return status;
  td_kernel_sum_into(sum, dense ? dense : tensor);
  td_tensor_unref(dense);
  status = td_kernel_cast(sum, tensor->dtype, out, error);
  td_tensor_unref(sum);
  return status;
}
