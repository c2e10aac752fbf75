/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sparse tensors in coordinate form (torch.sparse_coo). `sparse` of a tensor says which pieces are
 * there, and their values. Indices name places in the first sparse_dim dimensions; the others are
 * the dense dimensions of a value. A piece may occur twice, and its value is then the sum. In a
 * coalesced tensor each piece occurs once, in row-major order. Sizes, dtype and device are those
 * of a dense tensor; strides mean nothing and the storage is empty. Any thread, as for dense
 * tensors. Nothing here knows of gradients. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_sparse_new makes a sparse tensor with the dtype and device of `values`. It takes new
 * references to indices and values. TD_SHAPE, TD_DTYPE, TD_INVALID (an index outside sizes) with
 * PyTorch's texts. */
td_status td_sparse_new(td_tensor *indices, td_tensor *values, int n_dims, const int64_t *sizes,
                        bool coalesced, td_tensor **out, td_error *error);

/* td_sparse_copy copies indices and values. Dtype and device may be others. */
td_status td_sparse_copy(const td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
                         td_error *error);

/* td_sparse_with_values makes a tensor with other values that shares the indices. */
td_tensor *td_sparse_with_values(const td_tensor *tensor, td_tensor *values);

/* td_sparse_coalesce sums the values of equal indices. It returns a new reference to a tensor that
 * is coalesced already. */
td_status td_sparse_coalesce(td_tensor *tensor, td_tensor **out, td_error *error);
td_status td_sparse_to_dense(const td_tensor *tensor, td_tensor **out, td_error *error);

/* td_sparse_add writes a + alpha b of two sparse tensors into a new one. Sizes and dtypes are the
 * same. As PyTorch, it merges two lists of indices that it takes for sorted. td_sparse_add_into
 * replaces a by a + b; nobody else may look at a meanwhile. It aborts without memory. */
td_status td_sparse_add(const td_tensor *a, const td_tensor *b, double alpha, td_tensor **out,
                        td_error *error);
void td_sparse_add_into(td_tensor *a, const td_tensor *b);

/* td_sparse_add_into_dense adds alpha times each value into its place. Sizes are equal; dtypes may
 * differ. */
void td_sparse_add_into_dense(td_tensor *dense, const td_tensor *sparse, double alpha);
