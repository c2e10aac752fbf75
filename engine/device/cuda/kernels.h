/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels of the CUDA module. The caller has made the device current. Private to the module. */
#pragma once

#include "engine/device/cuda/module.h"

#include <cuda_runtime.h>

int td_cuda_find(const char *name);

/* td_cuda_put puts a kernel on the stream; false where there is none for these dtypes. */
bool td_cuda_put(cudaStream_t stream, const td_cuda_launch &launch);

/* td_cuda_put_product does so for a product of matrices, by a kernel of the module's own. */
void td_cuda_put_product(cudaStream_t stream, const td_cuda_product &product);

/* td_cublas_multiply is the same by cuBLAS; false where it is not there, or where the steps are not
 * those of matrices that it knows: then td_cuda_put_product does it. */
bool td_cublas_multiply(int device, cudaStream_t stream, const td_cuda_product &product);
