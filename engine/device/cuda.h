/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CUDA devices, through the module that nvcc compiled (cuda/module.h). It lies beside the program's
 * or the Python module's file, or where TAPEDECK_CUDA_MODULE says. Private to engine/device. */
#pragma once

#include "engine/base/status.h"
#include "engine/tensor/tensor.h"

/* td_cuda_open loads the module and finds the machine's devices: `wanted` of them, or all (0).
 * TD_UNSUPPORTED says what is missing: the module, a driver, devices. */
td_status td_cuda_open(int wanted, int *count, td_error *error);

/* td_cuda_add says which of CUDA's devices a device is. */
void td_cuda_add(td_device device, int ordinal);
