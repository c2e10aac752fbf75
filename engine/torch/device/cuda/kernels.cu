/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/cuda/kernels.h"

#include "engine/torch/device/cuda/elementwise.cuh"
#include "engine/torch/device/cuda/reduce.cuh"

#include <string.h>

#define THREADS 256
#define BLOCKS_MAX 65535 /* threads go on in strides beyond */

static unsigned
blocks_for(int64_t n) {
  int64_t blocks = (n + THREADS - 1) / THREADS;
  return (unsigned)(blocks < 1 ? 1 : blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks);
}

static td_geometry
geometry_of(const td_cuda_launch &launch) {
  td_geometry geometry = {};
  geometry.n_dims = launch.n_dims;
  geometry.n_operands = launch.n_operands;
  geometry.n = 1;
  for (int dim = 0; dim < launch.n_dims; dim++) {
    geometry.sizes[dim] = launch.sizes[dim];
    geometry.n *= launch.sizes[dim];
    for (int i = 0; i < launch.n_operands; i++)
      geometry.strides[i][dim] = launch.operands[i].strides[dim];
  }
  return geometry;
}

template <typename T>
static td_source<T>
source_of(const td_cuda_operand &operand) {
  return {(const T *)operand.data, (T)operand.number};
}

/* One for each dtype; false where the kernel has none for it. */
struct kernel {
  const char *name;
  bool (*put)(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &geometry);
};

static bool
all_are(const td_cuda_launch &launch, int dtype) {
  for (int i = 0; i < launch.n_operands; i++)
    if (launch.operands[i].data && launch.operands[i].dtype != dtype) return false;
  return true;
}

template <typename T, typename F>
static void
run_unary(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g, F f) {
  td_unary<T, F><<<blocks_for(g.n), THREADS, 0, stream>>>(g, (T *)launch.operands[0].data,
                                                          source_of<T>(launch.operands[1]), f);
}

template <typename F>
static bool
put_unary(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  if (launch.n_operands != 2) return false;
  if (all_are(launch, TD_CUDA_FLOAT32)) return run_unary<float>(stream, launch, g, F()), true;
  if (all_are(launch, TD_CUDA_FLOAT64)) return run_unary<double>(stream, launch, g, F()), true;
  return false;
}

template <typename T, typename F>
static void
run_binary(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g, F f) {
  td_binary<T, F><<<blocks_for(g.n), THREADS, 0, stream>>>(
      g, (T *)launch.operands[0].data, source_of<T>(launch.operands[1]),
      source_of<T>(launch.operands[2]), f);
}

template <typename F>
static bool
put_binary_of(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g, F f) {
  if (launch.n_operands != 3) return false;
  if (all_are(launch, TD_CUDA_FLOAT32)) return run_binary<float>(stream, launch, g, f), true;
  if (all_are(launch, TD_CUDA_FLOAT64)) return run_binary<double>(stream, launch, g, f), true;
  return false;
}

static bool
put_add(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  return put_binary_of(stream, launch, g, td_add{launch.parameter});
}

template <typename F>
static bool
put_binary(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  return put_binary_of(stream, launch, g, F());
}

template <typename To, typename From>
static void
run_copy(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  td_copy<To, From><<<blocks_for(g.n), THREADS, 0, stream>>>(g, (To *)launch.operands[0].data,
                                                             source_of<From>(launch.operands[1]));
}

template <typename To>
static bool
put_copy_to(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  switch (launch.operands[1].dtype) {
  case TD_CUDA_FLOAT32:
    return run_copy<To, float>(stream, launch, g), true;
  case TD_CUDA_FLOAT64:
    return run_copy<To, double>(stream, launch, g), true;
  case TD_CUDA_INT64:
    return run_copy<To, int64_t>(stream, launch, g), true;
  case TD_CUDA_BOOL:
    return run_copy<To, bool>(stream, launch, g), true;
  case TD_CUDA_INT32:
    return run_copy<To, int32_t>(stream, launch, g), true;
  default:
    return false;
  }
}

static bool
put_copy(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  if (launch.n_operands != 2 || !launch.operands[1].data) return false;
  switch (launch.operands[0].dtype) {
  case TD_CUDA_FLOAT32:
    return put_copy_to<float>(stream, launch, g);
  case TD_CUDA_FLOAT64:
    return put_copy_to<double>(stream, launch, g);
  case TD_CUDA_INT64:
    return put_copy_to<int64_t>(stream, launch, g);
  case TD_CUDA_BOOL:
    return put_copy_to<bool>(stream, launch, g);
  case TD_CUDA_INT32:
    return put_copy_to<int32_t>(stream, launch, g);
  default:
    return false;
  }
}

template <typename T>
static bool
run_fill(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  td_fill<T><<<blocks_for(g.n), THREADS, 0, stream>>>(g, (T *)launch.operands[0].data,
                                                      (T)launch.parameter);
  return true;
}

static bool
put_fill(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  switch (launch.operands[0].dtype) {
  case TD_CUDA_FLOAT32:
    return run_fill<float>(stream, launch, g);
  case TD_CUDA_FLOAT64:
    return run_fill<double>(stream, launch, g);
  case TD_CUDA_INT64:
    return run_fill<int64_t>(stream, launch, g);
  case TD_CUDA_BOOL:
    return run_fill<bool>(stream, launch, g);
  case TD_CUDA_INT32:
    return run_fill<int32_t>(stream, launch, g);
  default:
    return false;
  }
}

/* Which dimensions stay and which are summed: those along which operand 0 repeats. */
static void
part(const td_geometry &whole, bool repeated, td_geometry *out) {
  *out = td_geometry{};
  out->n = 1;
  for (int dim = 0; dim < whole.n_dims; dim++) {
    if ((whole.strides[0][dim] == 0 && whole.sizes[dim] != 1) != repeated) continue;
    out->sizes[out->n_dims] = whole.sizes[dim];
    for (int i = 0; i < 2; i++)
      out->strides[i][out->n_dims] = whole.strides[i][dim];
    out->n *= whole.sizes[dim];
    out->n_dims++;
  }
}

template <typename T>
static bool
run_sum(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &whole) {
  td_geometry kept, summed;
  part(whole, false, &kept);
  part(whole, true, &summed);
  unsigned blocks = (unsigned)(kept.n > BLOCKS_MAX ? BLOCKS_MAX : kept.n);
  td_sum_into<T><<<blocks, TD_SUM_THREADS, 0, stream>>>(
      kept, summed, (T *)launch.operands[0].data, (const T *)launch.operands[1].data);
  return true;
}

static bool
put_sum(cudaStream_t stream, const td_cuda_launch &launch, const td_geometry &g) {
  if (launch.n_operands != 2 || !launch.operands[1].data) return false;
  if (all_are(launch, TD_CUDA_FLOAT32)) return run_sum<float>(stream, launch, g);
  if (all_are(launch, TD_CUDA_FLOAT64)) return run_sum<double>(stream, launch, g);
  if (all_are(launch, TD_CUDA_INT64)) return run_sum<int64_t>(stream, launch, g);
  return false;
}

static const kernel kernels[] = {
    {"add", put_add},
    {"mul", put_binary<td_mul>},
    {"div", put_binary<td_div>},
    {"copy", put_copy},
    {"fill", put_fill},
    {"sum_into", put_sum},
    {"neg", put_unary<td_neg>},
    {"abs", put_unary<td_abs>},
    {"sign", put_unary<td_sign>},
    {"relu", put_unary<td_relu>},
    {"reciprocal", put_unary<td_reciprocal>},
    {"exp", put_unary<td_exp>},
    {"log", put_unary<td_log>},
    {"sqrt", put_unary<td_sqrt>},
    {"sin", put_unary<td_sin>},
    {"cos", put_unary<td_cos>},
    {"tanh", put_unary<td_tanh>},
    {"sigmoid", put_unary<td_sigmoid>},
};

int
td_cuda_find(const char *name) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].name, name) == 0) return (int)i;
  return -1;
}

bool
td_cuda_put(cudaStream_t stream, const td_cuda_launch &launch) {
  td_geometry geometry = geometry_of(launch);
  if (geometry.n == 0) return true;
  return kernels[launch.kernel].put(stream, launch, geometry);
}

void
td_cuda_put_product(cudaStream_t stream, const td_cuda_product &product) {
  int64_t n = product.n_batches * product.n * product.m;
  if (n == 0) return;
  if (product.dtype == TD_CUDA_FLOAT32)
    td_product<float><<<blocks_for(n), THREADS, 0, stream>>>(product);
  else
    td_product<double><<<blocks_for(n), THREADS, 0, stream>>>(product);
}
