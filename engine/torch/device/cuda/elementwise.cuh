/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elementwise kernels: one thread for each element of operand 0, any strides. Each is a functor over
 * numbers of one dtype; kernels.cu names them as launches do. Sources of the
 * formulas: the host's, engine/torch/ops/pointwise/unary.def and arithmetic.c. */
#pragma once

#include "engine/torch/device/cuda/launch.h"

#include <math.h>

/* Where an element lies in each operand. Sizes and strides are those of the launch. */
struct td_geometry {
  int n_dims, n_operands;
  int64_t n;
  int64_t sizes[TD_CUDA_MAX_DIMS];
  int64_t strides[TD_CUDA_MAX_OPERANDS][TD_CUDA_MAX_DIMS];
};

__device__ inline int64_t
td_offset(const td_geometry &geometry, int operand, int64_t index) {
  int64_t at = 0;
  for (int dim = geometry.n_dims - 1; dim >= 0; dim--) {
    at += index % geometry.sizes[dim] * geometry.strides[operand][dim];
    index /= geometry.sizes[dim];
  }
  return at;
}

/* An operand of type T: an array, or one number for all. */
template <typename T> struct td_source {
  const T *data;
  T number;
  __device__ T
  at(const td_geometry &geometry, int operand, int64_t index) const {
    return data ? data[td_offset(geometry, operand, index)] : number;
  }
};

template <typename T, typename F>
__global__ void
td_unary(td_geometry geometry, T *out, td_source<T> a, F f) {
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < geometry.n; i += step)
    out[td_offset(geometry, 0, i)] = f(a.at(geometry, 1, i));
}

template <typename T, typename F>
__global__ void
td_binary(td_geometry geometry, T *out, td_source<T> a, td_source<T> b, F f) {
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < geometry.n; i += step)
    out[td_offset(geometry, 0, i)] = f(a.at(geometry, 1, i), b.at(geometry, 2, i));
}

/* Also a cast: the host's conversion, by way of the target's own type. */
template <typename To, typename From>
__global__ void
td_copy(td_geometry geometry, To *out, td_source<From> a) {
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < geometry.n; i += step)
    out[td_offset(geometry, 0, i)] = (To)a.at(geometry, 1, i);
}

template <typename T>
__global__ void
td_fill(td_geometry geometry, T *out, T value) {
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < geometry.n; i += step)
    out[td_offset(geometry, 0, i)] = value;
}

/* TD_FUNCTOR(name, expression of x): a function of one number. */
#define TD_FUNCTOR(name, expression)                                                               \
  struct td_##name {                                                                               \
    template <typename T> __device__ T operator()(T x) const {                                     \
      return (T)(expression);                                                                      \
    }                                                                                              \
  };
TD_FUNCTOR(neg, -x)
TD_FUNCTOR(abs, x < T(0) ? -x : x)
TD_FUNCTOR(sign, (x > T(0)) - (x < T(0)))
TD_FUNCTOR(relu, x < T(0) ? T(0) : x)
TD_FUNCTOR(reciprocal, T(1) / x)
TD_FUNCTOR(exp, ::exp(x))
TD_FUNCTOR(log, ::log(x))
TD_FUNCTOR(sqrt, ::sqrt(x))
TD_FUNCTOR(sin, ::sin(x))
TD_FUNCTOR(cos, ::cos(x))
TD_FUNCTOR(tanh, ::tanh(x))
TD_FUNCTOR(sigmoid, T(1) / (T(1) + ::exp(-x)))
#undef TD_FUNCTOR

struct td_add {
  double alpha;
  template <typename T> __device__ T operator()(T x, T y) const {
    return alpha == 1 ? x + y : x + (T)alpha * y;
  }
};
struct td_mul {
  template <typename T> __device__ T operator()(T x, T y) const {
    return x * y;
  }
};
struct td_div {
  template <typename T> __device__ T operator()(T x, T y) const {
    return x / y;
  }
};
