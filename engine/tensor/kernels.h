/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine itself does with elements (no autograd, no history): copies, sums of gradients,
 * checks. The kernels of operations are beside their operations in engine/ops. Any thread.
 *
 * Sparse tensors are welcome as what is read. td_kernel_add of two is sparse, of one and a dense
 * one dense; td_kernel_add_into adds a sparse one into either, a dense one into a dense one. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_kernel_copy writes src's elements, cast, into dst of the same sizes. */
void td_kernel_copy(td_tensor *dst, const td_tensor *src);

/* td_kernel_contiguous returns a contiguous copy, or a new reference if it is contiguous already.
 */
td_status td_kernel_contiguous(td_tensor *tensor, td_tensor **out, td_error *error);

/* td_kernel_add writes a + b, same sizes and dtype, into a new tensor; td_kernel_add_into adds b
 * into a in place. */
td_status td_kernel_add(const td_tensor *a, const td_tensor *b, td_tensor **out, td_error *error);
void td_kernel_add_into(td_tensor *a, const td_tensor *b);

void td_kernel_fill(td_tensor *tensor, double value);

/* td_kernel_check_source: TD_UNSUPPORTED "Cannot copy out of meta tensor; no data!" where `device`
 * is not the meta device and the tensor's is. */
td_status td_kernel_check_source(const td_tensor *tensor, td_device device, td_error *error);

/* td_kernel_cast and td_kernel_to_device return a copy with another dtype or device (a new
 * reference where nothing changes). td_kernel_sum_to reduces a broadcast gradient to `sizes`;
 * TD_SHAPE if it cannot. */
td_status td_kernel_cast(td_tensor *tensor, td_dtype dtype, td_tensor **out, td_error *error);
td_status td_kernel_to_device(td_tensor *tensor, td_device device, td_tensor **out,
                              td_error *error);
td_status td_kernel_sum_to(td_tensor *tensor, int n_dims, const int64_t *sizes, td_tensor **out,
                           td_error *error);

/* td_kernel_sum_into adds src's elements into dst, whose sizes are src's or 1 in as many dimensions
 * or fewer. */
void td_kernel_sum_into(td_tensor *dst, const td_tensor *src);
