/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine itself does with elements: copies, sums of gradients, checks. There is no
 * autograd here. The kernels of operations stand beside their operations in engine/torch/ops. Any
 * thread.
 *
 * Every kernel reads sparse tensors too. td_kernel_add of two sparse tensors is sparse; of a sparse
 * and a dense one it is dense. td_kernel_add_into adds a sparse tensor into either, and a dense
 * tensor into a dense one. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_kernel_copy writes src's elements, cast, into dst of the same sizes. */
void td_kernel_copy(td_tensor *dst, const td_tensor *src);

/* td_kernel_contiguous returns a contiguous copy, or a new reference to a contiguous tensor. */
td_status td_kernel_contiguous(td_tensor *tensor, td_tensor **out, td_error *error);

/* td_kernel_add writes a + b into a new tensor; sizes and dtypes are the same. td_kernel_add_into
 * adds b into a in place. */
td_status td_kernel_add(const td_tensor *a, const td_tensor *b, td_tensor **out, td_error *error);
void td_kernel_add_into(td_tensor *a, const td_tensor *b);

/* td_kernel_fill writes a number; a real tensor takes its real part. */
void td_kernel_fill(td_tensor *tensor, td_complex128 value);

/* td_kernel_check_source refuses to copy a meta tensor to another device: TD_UNSUPPORTED "Cannot
 * copy out of meta tensor; no data!". */
td_status td_kernel_check_source(const td_tensor *tensor, td_device device, td_error *error);

/* td_kernel_cast and td_kernel_to_device return a copy with another dtype or device, or a new
 * reference if nothing changes. td_kernel_sum_to reduces a broadcast gradient to `sizes`; TD_SHAPE
 * if it cannot. */
td_status td_kernel_cast(td_tensor *tensor, td_dtype dtype, td_tensor **out, td_error *error);
td_status td_kernel_to_device(td_tensor *tensor, td_device device, td_tensor **out,
                              td_error *error);
td_status td_kernel_sum_to(td_tensor *tensor, int n_dims, const int64_t *sizes, td_tensor **out,
                           td_error *error);

/* td_kernel_sum_into adds src's elements into dst, which has src's compute type. dst has at most as
 * many dimensions. Each of its sizes is 1 or that of src. */
void td_kernel_sum_into(td_tensor *dst, const td_tensor *src);
