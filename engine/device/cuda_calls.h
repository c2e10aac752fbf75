/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a launch means to the CUDA module: which of its kernels, over which operands. Knows no
 * device, so it can be tested without one. Private to engine/device. */
#pragma once

#include "engine/device/cuda/module.h"
#include "engine/tensor/launch.h"

/* td_cuda_call puts a kernel on a stream; false where the module has none for it, or where a tensor
 * is of another device or kind: then nothing was put. *error: what went wrong, or NULL. */
bool td_cuda_call(const td_cuda_module *module, int ordinal, void *stream,
                  const td_kernel_call *call, const char **error);
