/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shapes, pieces and copies. Views share their base's storage. Dimensions and indices may be
 * negative; one of the sizes given to view, reshape and expand may be -1. See pointwise.h for the
 * rules of all operations. */
#pragma once

#include "engine/torch/tensor/layout.h"

/* td_op_view needs compatible strides (ViewBackward0). td_op_reshape is a view if it can be one
 * (ViewBackward0, in PyTorch 1 ReshapeAliasBackward0). Else it is a copy (CloneBackward0,
 * UnsafeViewBackward0). td_op_flatten reshapes dimensions start_dim to end_dim, both included, into
 * one. */
td_status td_op_view(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
                     td_error *error);
td_status td_op_reshape(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
                        td_error *error);
td_status td_op_flatten(td_tensor *self, int64_t start_dim, int64_t end_dim, td_tensor **out,
                        td_error *error);

/* td_op_t swaps the dimensions of a matrix (TBackward0), td_op_transpose any two
 * (TransposeBackward0), td_op_permute reorders all (PermuteBackward0). */
td_status td_op_t(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_transpose(td_tensor *self, int64_t dim0, int64_t dim1, td_tensor **out,
                          td_error *error);
td_status td_op_permute(td_tensor *self, int n_dims, const int64_t *dims, td_tensor **out,
                        td_error *error);

/* td_op_expand repeats dimensions of size 1 with stride 0 (ExpandBackward0). */
td_status td_op_expand(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
                       td_error *error);

/* td_op_as_strided is a view by places in self's storage (AsStridedBackward0); TD_SHAPE outside it.
 */
td_status td_op_as_strided(td_tensor *self, int n_dims, const int64_t *sizes,
                           const int64_t *strides, int64_t offset, td_tensor **out,
                           td_error *error);

/* td_op_alias is a view of all of it (AliasBackward0). */
td_status td_op_alias(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_narrow is a slice by length, td_op_movedim a permutation. td_op_unflatten is a view with
 * one dimension cut into several. */
td_status td_op_narrow(td_tensor *self, int64_t dim, int64_t start, int64_t length, td_tensor **out,
                       td_error *error);
td_status td_op_movedim(td_tensor *self, int n, const int64_t *from, const int64_t *to,
                        td_tensor **out, td_error *error);
td_status td_op_unflatten(td_tensor *self, int64_t dim, int n_sizes, const int64_t *sizes,
                          td_tensor **out, td_error *error);

/* td_op_diagonal is a view (DiagonalBackward0), td_op_diagonal_copy of a matrix a copy
 * (DiagonalBackward0_copy). td_op_diag_embed puts the last dimension on a diagonal of zeros
 * (DiagEmbedBackward0). td_op_unfold is a view of windows of `size` elements, `step` apart; the
 * last dimension goes along a window (UnfoldBackward0). */
td_status td_op_diagonal(td_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                         td_tensor **out, td_error *error);
td_status td_op_diagonal_copy(td_tensor *self, int64_t offset, td_tensor **out, td_error *error);
td_status td_op_diag_embed(td_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                           td_tensor **out, td_error *error);
td_status td_op_unfold(td_tensor *self, int64_t dim, int64_t size, int64_t step, td_tensor **out,
                       td_error *error);

/* td_op_unsqueeze (UnsqueezeBackward0); td_op_squeeze drops all dimensions of size 1
 * (SqueezeBackward0), td_op_squeeze_dim one if it is of size 1 (SqueezeBackward1). */
td_status td_op_unsqueeze(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);
td_status td_op_squeeze(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_squeeze_dim(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);

/* td_op_select takes one index of a dimension (SelectBackward0); TD_OUT_OF_RANGE. td_op_slice takes
 * [start, end) by step >= 1, clamped as Python does (SliceBackward0). */
td_status td_op_select(td_tensor *self, int64_t dim, int64_t index, td_tensor **out,
                       td_error *error);
td_status td_op_slice(td_tensor *self, int64_t dim, int64_t start, int64_t end, int64_t step,
                      td_tensor **out, td_error *error);

/* td_op_index takes the rows (dimension 0) that an int64 tensor names, or those of a mask
 * (IndexBackward0): td_op_index_many of one index, see indexing.h. */
td_status td_op_index(td_tensor *self, td_tensor *indices, td_tensor **out, td_error *error);

/* td_op_flip reverses dimensions (FlipBackward0). */
td_status td_op_flip(td_tensor *self, int n_dims, const int64_t *dims, td_tensor **out,
                     td_error *error);

/* td_op_split cuts a dimension into pieces of split_size; the last may be smaller. SplitBackward0
 * has one input per piece. td_op_chunk cuts into at most `chunks` equal pieces. *out is a new array
 * of *n_out new references: free both. */
td_status td_op_split(td_tensor *self, int64_t split_size, int64_t dim, td_tensor ***out,
                      uint32_t *n_out, td_error *error);
td_status td_op_chunk(td_tensor *self, int64_t chunks, int64_t dim, td_tensor ***out,
                      uint32_t *n_out, td_error *error);

/* td_op_split_sizes cuts pieces of given lengths (SplitWithSizesBackward0). td_op_unbind returns
 * all slices of a dimension, without that dimension (UnbindBackward0). The unsafe ones are the
 * same, but the caller may write into the pieces (UnsafeSplitBackward0 and so on). */
td_status td_op_split_sizes(td_tensor *self, int n, const int64_t *lengths, int64_t dim,
                            td_tensor ***out, uint32_t *n_out, td_error *error);
td_status td_op_unbind(td_tensor *self, int64_t dim, td_tensor ***out, uint32_t *n_out,
                       td_error *error);
td_status td_op_unsafe_split(td_tensor *self, int64_t split_size, int64_t dim, td_tensor ***out,
                             uint32_t *n_out, td_error *error);
td_status td_op_unsafe_split_sizes(td_tensor *self, int n, const int64_t *lengths, int64_t dim,
                                   td_tensor ***out, uint32_t *n_out, td_error *error);
td_status td_op_unsafe_chunk(td_tensor *self, int64_t chunks, int64_t dim, td_tensor ***out,
                             uint32_t *n_out, td_error *error);

/* td_op_view_as_real adds a dimension of size 2, for the real and the imaginary parts
 * (ViewAsRealBackward0). td_op_view_as_complex takes it away (ViewAsComplexBackward0). */
td_status td_op_view_as_real(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_view_as_complex(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_cat joins along a dimension (CatBackward0, one edge per tensor), td_op_stack along a new
 * one (StackBackward0). */
td_status td_op_cat(uint32_t n, td_tensor *const *tensors, int64_t dim, td_tensor **out,
                    td_error *error);
td_status td_op_stack(uint32_t n, td_tensor *const *tensors, int64_t dim, td_tensor **out,
                      td_error *error);

/* td_op_clone copies (CloneBackward0), row-major. td_op_clone_as_it_lies keeps the order of the
 * dimensions in memory: see engine/torch/tensor/layout.h. td_op_contiguous copies too, or returns
 * self if it is contiguous. td_op_detach is a view without history. */
td_status td_op_clone(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_clone_as_it_lies(td_tensor *self, td_tensor **out, td_error *error);

/* The same with the dimensions in an order that has a name: td_op_clone_in copies, and
 * td_op_contiguous_in does if self does not lie so. td_op_to_format is the latter, with a
 * ToCopyBackward0. */
td_status td_op_clone_in(td_tensor *self, td_memory_format format, td_tensor **out,
                         td_error *error);
td_status td_op_contiguous_in(td_tensor *self, td_memory_format format, td_tensor **out,
                              td_error *error);
td_status td_op_to_format(td_tensor *self, td_memory_format format, td_tensor **out,
                          td_error *error);

td_status td_op_contiguous(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_detach(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_conj negates the imaginary parts (ConjBackward0); a real tensor is returned as it is. */
td_status td_op_conj(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_to_device and td_op_to_dtype copy (ToCopyBackward0), or return self if nothing changes.
 * td_op_to does both in one node. */
td_status td_op_to_device(td_tensor *self, td_device device, td_tensor **out, td_error *error);
td_status td_op_to_dtype(td_tensor *self, td_dtype dtype, td_tensor **out, td_error *error);
td_status td_op_to(td_tensor *self, td_dtype dtype, td_device device, td_tensor **out,
                   td_error *error);

/* td_op_roll shifts elements around (RollBackward0). With n_dims 0 it shifts the flattened tensor,
 * and n_shifts is 1. td_op_repeat repeats whole dimensions (RepeatBackward0); n_dims may be more
 * than self's. td_op_tril and td_op_triu clear the elements above or below a diagonal of the last
 * two dimensions (TrilBackward0, TriuBackward0). */
td_status td_op_roll(td_tensor *self, int n_shifts, const int64_t *shifts, int n_dims,
                     const int64_t *dims, td_tensor **out, td_error *error);
td_status td_op_repeat(td_tensor *self, int n_dims, const int64_t *repeats, td_tensor **out,
                       td_error *error);
td_status td_op_tril(td_tensor *self, int64_t diagonal, td_tensor **out, td_error *error);
td_status td_op_triu(td_tensor *self, int64_t diagonal, td_tensor **out, td_error *error);
