/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies and sums of dense tensors. Everybody outside this folder calls kernels.h, which takes
 * sparse tensors too. Private to engine/torch/tensor. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_dense_copy writes src's elements, cast, into dst of the same sizes. */
void td_dense_copy(td_tensor *dst, const td_tensor *src);

/* td_dense_clone makes a copy with this dtype and device, even if nothing changes. */
td_status td_dense_clone(const td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
                         td_error *error);

/* td_dense_add writes a + b into sum, td_dense_add_into into a. Sizes and dtypes are the same. */
void td_dense_add(td_tensor *sum, const td_tensor *a, const td_tensor *b);
void td_dense_add_into(td_tensor *a, const td_tensor *b);
