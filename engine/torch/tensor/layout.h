/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the result of an elementwise operation lies in memory: as PyTorch's TensorIterator lays it
 * out. If all operands have the sizes and one order of dimensions without gaps, that order is the
 * result's. Else the dimensions are sorted by the operands' strides, and the first operand that
 * tells two dimensions apart decides. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_tensor_laid_out makes a tensor of `sizes`, to which the operands' sizes broadcast. The caller
 * writes its elements. Fails as td_tensor_new_empty. Row-major operands cost one look at their
 * strides. */
td_status td_tensor_laid_out(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                             int n_operands, const td_tensor *const *operands, td_tensor **out,
                             td_error *error);

/* td_tensor_laid_out_like is the same for one operand, with its sizes. */
td_status td_tensor_laid_out_like(const td_tensor *operand, td_dtype dtype, td_device device,
                                  td_tensor **out, td_error *error);

/* The orders of dimensions in memory that PyTorch has names for: as the operand lies, row-major,
 * and with the channels (dimension 1) innermost. */
typedef enum td_memory_format {
  TD_FORMAT_PRESERVE,
  TD_FORMAT_CONTIGUOUS,
  TD_FORMAT_CHANNELS_LAST,    /* of 4 dimensions */
  TD_FORMAT_CHANNELS_LAST_3D, /* of 5 */
  TD_N_FORMATS,
} td_memory_format;

/* td_memory_format_name returns PyTorch's name, "channels_last". */
const char *td_memory_format_name(td_memory_format format);

/* td_tensor_has_format tells whether a tensor lies so, without gaps. */
bool td_tensor_has_format(const td_tensor *tensor, td_memory_format format);

/* td_tensor_suggests tells whether PyTorch would call the order in which a tensor lies so, gaps or
 * not: row-major, unless the channels are innermost. */
bool td_tensor_suggests(const td_tensor *tensor, td_memory_format format);

/* td_tensor_new_in_format makes a tensor whose elements the caller writes. TD_SHAPE with PyTorch's
 * text if the format is of another number of dimensions. */
td_status td_tensor_new_in_format(td_dtype dtype, td_device device, int n_dims,
                                  const int64_t *sizes, td_memory_format format, td_tensor **out,
                                  td_error *error);
