/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels of the CUDA module. The caller has made the device current. Private to the module. */
#pragma once

#include "engine/torch/device/cuda/launch.h"

#include <cuda_runtime.h>

int td_cuda_find(const char *name);

/* td_cuda_put puts a kernel on the stream; false if there is none for these dtypes. */
bool td_cuda_put(cudaStream_t stream, const td_cuda_launch &launch);

/* td_cuda_put_product puts a product of matrices on the stream, by a kernel of the module's own. */
void td_cuda_put_product(cudaStream_t stream, const td_cuda_product &product);

/* td_cublas_multiply puts the product on the stream by cuBLAS. False if there is no cuBLAS, or if
 * it does not know matrices with these steps. Then td_cuda_put_product does the work. */
bool td_cublas_multiply(int device, cudaStream_t stream, const td_cuda_product &product);
