/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Factories: new tensors with elements. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* The dtype of new tensors of floating numbers, for which nobody chose one; float32 at first. */
td_dtype td_default_dtype(void);
void td_default_dtype_set(td_dtype dtype);

/* td_tensor_new makes a contiguous tensor of zeros. TD_OUT_OF_MEMORY, TD_SHAPE (too many or
 * negative sizes). */
td_status td_tensor_new(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                        td_tensor **out, td_error *error);

/* td_tensor_new_like makes zeros with the dtype, device and sizes of another tensor. */
td_status td_tensor_new_like(const td_tensor *like, td_tensor **out, td_error *error);

/* td_tensor_new_scalar makes a 0-dimensional tensor that holds value. Aborts without memory. */
td_tensor *td_tensor_new_scalar(td_dtype dtype, td_device device, double value);
