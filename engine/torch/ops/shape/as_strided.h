/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tensor's elements by their places in memory. The history of a view consists of this after a
 * write into the view or its base. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/op.h"

/* Sizes, strides and offset of a tensor. */
typedef struct td_geometry {
  td_sizes sizes;
  int64_t strides[TD_MAX_DIMS];
  int64_t offset;
} td_geometry;

td_geometry td_geometry_of(const td_tensor *tensor);

/* td_geometry_empty makes an uninitialised tensor with the geometry's strides, at offset 0, in
 * memory of its own. */
td_status td_geometry_empty(const td_geometry *geometry, td_dtype dtype, td_device device,
                            td_tensor **out, td_error *error);

/* td_as_strided_node makes the AsStridedBackward0 of a view of base, without metadata. */
td_node *td_as_strided_node(td_tensor *base, const td_tensor *view);
