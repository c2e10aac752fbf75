/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sparse tensors in coordinate form (torch.sparse_coo): a tensor whose `sparse` says which pieces
 * are there, and what they hold. The first sparse_dim dimensions are indexed, the others are dense
 * parts of each value. A piece may be there twice: its value is then their sum; a coalesced tensor
 * has each once, in row-major order. sizes, dtype and device of the tensor are as of a dense one;
 * strides mean nothing, its storage is empty. Any thread, as for dense tensors; nothing here knows
 * of gradients. */
#pragma once

#include "engine/tensor/tensor.h"

typedef struct td_sparse {
  td_tensor *indices; /* (owned reference) int64 [sparse_dim, nnz] */
  td_tensor *values;  /* (owned reference) [nnz, sizes of the dense dimensions ...] */
  bool coalesced;
} td_sparse;

static inline bool
td_tensor_is_sparse(const td_tensor *tensor) {
  return tensor->sparse != NULL;
}

/* td_sparse_new makes a sparse tensor of values' dtype and device. It takes new references to
 * indices and values, which it shares. TD_SHAPE, TD_DTYPE, TD_OUT_OF_RANGE (an index outside
 * sizes) with PyTorch's texts. */
td_status td_sparse_new(td_tensor *indices, td_tensor *values, int n_dims, const int64_t *sizes,
                        bool coalesced, td_tensor **out, td_error *error);
void td_sparse_free(td_sparse *sparse); /* NULL is fine */

/* td_sparse_detach is another tensor over the same indices and values, td_sparse_copy one over
 * copies of them, of another dtype and device perhaps. */
td_tensor *td_sparse_detach(const td_tensor *tensor);
td_status td_sparse_copy(const td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
                         td_error *error);
td_status td_sparse_clone(const td_tensor *tensor, td_tensor **out, td_error *error);

/* td_sparse_with_values is a tensor with other values at the same, shared indices. */
td_tensor *td_sparse_with_values(const td_tensor *tensor, td_tensor *values);

/* td_sparse_coalesce sums the values of equal indices; a new reference to a coalesced tensor
 * itself. */
td_status td_sparse_coalesce(td_tensor *tensor, td_tensor **out, td_error *error);
td_status td_sparse_to_dense(const td_tensor *tensor, td_tensor **out, td_error *error);

/* td_sparse_add writes a + alpha b of two sparse tensors of equal sizes and dtype into a new one:
 * as PyTorch merges two lists of indices that it takes for sorted. td_sparse_add_into replaces a by
 * that sum: only a's owner may look at a meanwhile. Aborts without memory. */
td_status td_sparse_add(const td_tensor *a, const td_tensor *b, double alpha, td_tensor **out,
                        td_error *error);
void td_sparse_add_into(td_tensor *a, const td_tensor *b);

/* td_sparse_add_into_dense adds alpha times each value into its place. Sizes are equal; dtypes may
 * differ. */
void td_sparse_add_into_dense(td_tensor *dense, const td_tensor *sparse, double alpha);
