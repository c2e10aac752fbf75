/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sums: what is added into an operand 0 that repeats. A block for each of its elements; its threads
 * sum strides of what falls there, in the type's own precision, and then a tree. The order of a sum
 * does not depend on the machine. */
#pragma once

#include "engine/torch/device/cuda/elementwise.cuh"

#define TD_SUM_THREADS 256 /* a power of two */

/* `kept` runs over the elements of operand 0, `summed` over what falls into one of them. In both,
 * operand 0 is where it is added to, operand 1 what is summed. */
template <typename T>
__global__ void
td_sum_into(td_geometry kept, td_geometry summed, T *out, const T *from) {
  __shared__ T parts[TD_SUM_THREADS];
  for (int64_t i = blockIdx.x; i < kept.n; i += gridDim.x) {
    const T *first = from + td_offset(kept, 1, i);
    T sum = 0;
    for (int64_t j = threadIdx.x; j < summed.n; j += blockDim.x)
      sum += first[td_offset(summed, 1, j)];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = TD_SUM_THREADS / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) out[td_offset(kept, 0, i)] += parts[0];
    __syncthreads();
  }
}

/* A product of matrices with any steps, where cuBLAS is not there or cannot: a thread for each
 * element. */
template <typename T>
__global__ void
td_product(td_cuda_product p) {
  int64_t n = p.n_batches * p.n * p.m, step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t column = i % p.m, row = i / p.m % p.n, batch = i / p.m / p.n;
    const T *a = (const T *)p.a.data + batch * p.a.batch + row * p.a.row;
    const T *b = (const T *)p.b.data + batch * p.b.batch + column * p.b.column;
    T sum = 0;
    for (int64_t k = 0; k < p.k; k++)
      sum += a[k * p.a.column] * b[k * p.b.row];
    ((T *)p.c.data)[batch * p.c.batch + row * p.c.row + column * p.c.column] = sum;
  }
}
