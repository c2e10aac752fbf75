/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a launch means to the CUDA module: which of its kernels, over which operands. This file
 * knows no device, so tests need none. Private to engine/torch/device. */
#pragma once

#include "engine/torch/device/cuda/module.h"
#include "engine/torch/tensor/launch.h"

/* td_cuda_call puts a kernel on a stream. It returns false, and puts nothing, if the module has no
 * such kernel, or if a tensor is of another device or kind. *error: what went wrong, or NULL. */
bool td_cuda_call(const td_cuda_module *module, int ordinal, void *stream,
                  const td_kernel_call *call, const char **error);
