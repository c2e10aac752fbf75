/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Zero tensors: what PyTorch makes for the gradient of sgn. There they have no memory, so nobody
 * may write them. Here they have memory, but the same rules. A view of a zero tensor is one too, a
 * clone is not. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_zero_tensor_new_like makes one with the dtype, device and sizes of another tensor. On a device
 * other than the CPU it makes ordinary zeros. */
td_status td_zero_tensor_new_like(const td_tensor *like, td_tensor **out, td_error *error);
bool td_tensor_is_zero_tensor(const td_tensor *tensor);

/* td_zero_tensor_refuse is PyTorch's error for a write into one: TD_AUTOGRAD. */
td_status td_zero_tensor_refuse(td_error *error);
