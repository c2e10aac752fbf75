/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/pooling_window.h"

static td_status
check_numbers(const char *what, const td_pooling *p, td_error *error) {
  for (int i = 0; i < 2; i++) {
    if (p->kernel[i] <= 0)
      return td_error_set(error, TD_INVALID,
                          "kernel size should be greater than zero, but got kH: %lld kW: %lld",
                          (long long)p->kernel[0], (long long)p->kernel[1]);
    if (p->stride[i] <= 0)
      return td_error_set(error, TD_INVALID,
                          "stride should be greater than zero, but got dH: %lld dW: %lld",
                          (long long)p->stride[0], (long long)p->stride[1]);
    if (p->dilation[i] <= 0)
      return td_error_set(
          error, TD_INVALID,
          "dilation should be greater than zero, but got dilationH: %lld dilationW: "
          "%lld",
          (long long)p->dilation[0], (long long)p->dilation[1]);
    if (p->padding[i] < 0 || p->padding[i] > p->kernel[i] / 2)
      return td_error_set(error, TD_INVALID,
                          "%s: pad should be at least 0 and at most half of kernel size, but got "
                          "pad=%lld and kernel_size=%lld",
                          what, (long long)p->padding[i], (long long)p->kernel[i]);
  }
  return TD_OK;
}

/* A window that begins in the padding behind the image does not count. */
static int64_t
out_size(const td_pooling *p, int dim, int64_t size) {
  int64_t room = size + 2 * p->padding[dim] - p->dilation[dim] * (p->kernel[dim] - 1) - 1;
  if (room < 0 && !p->ceil_mode) return 0;
  int64_t n = (room + (p->ceil_mode ? p->stride[dim] - 1 : 0)) / p->stride[dim] + 1;
  bool behind = p->ceil_mode && (n - 1) * p->stride[dim] >= size + p->padding[dim];
  return behind ? n - 1 : n;
}

td_status
td_window_init(td_window *self, const char *what, const td_pooling *pooling,
               const td_tensor *tensor, int64_t sizes[4], td_error *error) {
  int n = tensor->n_dims;
  if (n != 3 && n != 4)
    return td_error_set(error, TD_SHAPE, "%s: expected a 3D or 4D input, but got %dD", what, n);
  TD_TRY(td_op_want_floating(tensor, what, error));
  TD_TRY(check_numbers(what, pooling, error));
  *self = (td_window){.n_planes = 1};
  for (int dim = 0; dim < n - 2; dim++)
    self->n_planes *= sizes[dim] = tensor->sizes[dim];
  for (int i = 0; i < 2; i++) {
    self->size[i] = tensor->sizes[n - 2 + i];
    self->kernel[i] = pooling->kernel[i];
    self->stride[i] = pooling->stride[i];
    self->padding[i] = pooling->padding[i];
    self->dilation[i] = pooling->dilation[i];
    sizes[n - 2 + i] = self->out_size[i] = out_size(pooling, i, self->size[i]);
  }
  if (self->out_size[0] > 0 && self->out_size[1] > 0) return TD_OK;
  return td_error_set(error, TD_SHAPE,
                      "Given input size: (%lldx%lldx%lld). Calculated output size: "
                      "(%lldx%lldx%lld). Output size is too small",
                      (long long)tensor->sizes[n - 3], (long long)self->size[0],
                      (long long)self->size[1], (long long)tensor->sizes[n - 3],
                      (long long)self->out_size[0], (long long)self->out_size[1]);
}
