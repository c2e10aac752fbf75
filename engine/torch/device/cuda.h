/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CUDA devices, through the module that nvcc compiled (cuda/module.h). The module lies beside the
 * file of the program or of the Python module. TAPEDECK_CUDA_MODULE names another place. Private to
 * engine/torch/device. */
#pragma once

#include "engine/base/status.h"
#include "engine/torch/device/backend.h"

extern const td_backend td_backend_cuda;

/* td_cuda_open loads the module and finds `wanted` devices of this machine, or all (0).
 * TD_UNSUPPORTED says what is missing: the module, a driver, devices. */
td_status td_cuda_open(int wanted, int *count, td_error *error);

/* td_cuda_add says which number CUDA has for a device. */
void td_cuda_add(td_device device, int ordinal);
