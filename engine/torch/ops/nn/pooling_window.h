/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The windows that pooling looks through, checked. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/nn/pooling.h"

typedef struct td_window {
  int64_t n_planes, size[2], out_size[2];
  int64_t kernel[2], stride[2], padding[2], dilation[2];
} td_window;

/* td_window_init checks a pooling of a tensor and writes the sizes of its result, as many as the
 * tensor has. TD_SHAPE, TD_DTYPE, TD_INVALID. `what` is the operation's name. */
td_status td_window_init(td_window *self, const char *what, const td_pooling *pooling,
                         const td_tensor *tensor, int64_t sizes[4], td_error *error);

/* Output `at` looks at the places [td_window_first, td_window_end) of a dimension, `dilation`
 * apart. Places in the padding are left out. */
static inline int64_t
td_window_first(const td_window *self, int dim, int64_t at) {
  int64_t first = at * self->stride[dim] - self->padding[dim], step = self->dilation[dim];
  return first >= 0 ? first : first + (-first + step - 1) / step * step;
}
static inline int64_t
td_window_end(const td_window *self, int dim, int64_t at) {
  int64_t first = at * self->stride[dim] - self->padding[dim];
  return TD_MIN(first + (self->kernel[dim] - 1) * self->dilation[dim] + 1, self->size[dim]);
}
