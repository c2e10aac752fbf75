/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elements by their numbers, which are int64 tensors. See pointwise.h for the rules of all
 * operations. TD_OUT_OF_RANGE for numbers outside. Negative numbers count from the end, but only in
 * td_op_index and td_op_index_put. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_gather reads self[index[i][j]][j] for dim 0 (GatherBackward0). index has self's number of
 * dimensions, and may be shorter in the others. With sparse_grad the gradient is a sparse tensor.
 */
td_status td_op_gather(td_tensor *self, int64_t dim, td_tensor *index, bool sparse_grad,
                       td_tensor **out, td_error *error);

/* Copies of self, changed at the places that gather would read. td_op_scatter_add adds src there
 * (ScatterAddBackward0, edges self, src). td_op_scatter writes src (ScatterBackward0),
 * td_op_scatter_value one number (ScatterBackward1). */
td_status td_op_scatter_add(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *src,
                            td_tensor **out, td_error *error);
td_status td_op_scatter(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *src,
                        td_tensor **out, td_error *error);
td_status td_op_scatter_value(td_tensor *self, int64_t dim, td_tensor *index, double value,
                              td_tensor **out, td_error *error);

/* td_op_index_select takes slices of a dimension (IndexSelectBackward0); index has one dimension.
 * td_op_index_add is self with slices of source added (IndexAddBackward0, edges self, source), and
 * td_op_index_fill self with a number in the slices (IndexFillBackward0). */
td_status td_op_index_select(td_tensor *self, int64_t dim, td_tensor *index, td_tensor **out,
                             td_error *error);
td_status td_op_index_add(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *source,
                          td_tensor **out, td_error *error);
td_status td_op_index_fill(td_tensor *self, int64_t dim, td_tensor *index, double value,
                           td_tensor **out, td_error *error);

/* td_op_pack_padded takes rows of a tensor [time, batch, ...] by their numbers, which count through
 * all times (PackPaddedSequenceBackward0). It needs two dimensions. */
td_status td_op_pack_padded(td_tensor *self, td_tensor *index, td_tensor **out, td_error *error);

/* td_op_index_many is self[indices...] (IndexBackward0), with one index per leading dimension. NULL
 * takes all of a dimension. int64 indices broadcast together. A torch.bool index covers as many
 * dimensions as it has. The dimensions of the indices take the place of the indexed ones, or come
 * first if those were apart. td_op_index_put is self with values written or added there
 * (IndexPutBackward0, edges self, values). */
td_status td_op_index_many(td_tensor *self, uint32_t n, td_tensor *const *indices, td_tensor **out,
                           td_error *error);
td_status td_op_index_put(td_tensor *self, uint32_t n, td_tensor *const *indices, td_tensor *values,
                          bool accumulate, td_tensor **out, td_error *error);

/* td_index_write is td_op_index_put without history, into self. */
td_status td_index_write(td_tensor *self, uint32_t n, td_tensor *const *indices,
                         const td_tensor *values, bool accumulate, td_error *error);

/* td_op_nonzero lists the places of elements that are not zero, int64 [n, n_dims].
 * td_op_masked_select is self[mask] after both were broadcast (MaskedSelectBackward0). */
td_status td_op_nonzero(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_masked_select(td_tensor *self, td_tensor *mask, td_tensor **out, td_error *error);

/* td_op_embedding takes weight's rows (EmbeddingBackward0); row padding_idx (-1: none) gets no
 * gradient. By frequency, the gradient of a row is divided by how often it was taken. With sparse
 * the gradient is a sparse tensor, not coalesced, and not by frequency. */
td_status td_op_embedding(td_tensor *weight, td_tensor *indices, int64_t padding_idx,
                          bool by_frequency, bool sparse, td_tensor **out, td_error *error);

/* td_op_embedding_bag sums (or averages, or takes the largest of) the rows of each bag
 * (EmbeddingBagBackward0, edges weight, per_sample_weights). With offsets [bags], the bags' first
 * positions, indices are [n]; without, [bags, n]. per_sample_weights (may be NULL) scale rows of
 * sums. */
typedef enum td_bag { TD_BAG_SUM, TD_BAG_MEAN, TD_BAG_MAX } td_bag;
td_status td_op_embedding_bag(td_tensor *weight, td_tensor *indices, td_tensor *offsets,
                              td_bag mode, bool sparse, td_tensor *per_sample_weights,
                              td_tensor **out, td_error *error);
