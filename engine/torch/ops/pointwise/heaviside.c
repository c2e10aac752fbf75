/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * heaviside: 0 below zero, 1 above it, and there what it is told. Nobody defined a derivative: its
 * node is PyTorch's NotImplemented, which fails when a pass reaches it. */
#include "engine/torch/graph/error_node.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/pointwise/pointwise.h"

static td_status
heaviside_result(td_tensor *self, td_tensor *values, td_tensor **out, td_error *error) {
  td_device device;
  td_sizes sizes, own = td_op_sizes(self), theirs = td_op_sizes(values);
  if (self->dtype != values->dtype)
    return td_error_set(error, TD_DTYPE,
                        "heaviside is not yet implemented for tensors with different dtypes.");
  TD_TRY(td_op_check_dtype("heaviside", self->dtype, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){self, values}, &device, error));
  TD_TRY(td_op_broadcast(&own, &theirs, &sizes, error));
  TD_TRY(td_tensor_new_empty(self->dtype, device, sizes.n_dims, sizes.at, out, error));
  td_walk walk;
  td_walk_init(&walk, sizes.n_dims, sizes.at, 3, (const td_tensor *[]){*out, self, values});
  TD_DISPATCH(
      self->dtype, while (td_walk_row(&walk)) {
        T *to = walk.at[0];
        const T *x = walk.at[1], *at_zero = walk.at[2];
        for (int64_t i = 0; i < walk.n; i++) {
          const T value = x[i * walk.step[1]];
          to[i * walk.step[0]] = value == 0 ? at_zero[i * walk.step[2]] : (T)(value > 0);
        }
      })
  return TD_OK;
}

td_status
td_op_heaviside(td_tensor *self, td_tensor *values, td_tensor **out, td_error *error) {
  TD_TRY(heaviside_result(self, values, out, error));
  td_error_node_set("NotImplemented", TD_AUTOGRAD,
                    "derivative for aten::heaviside is not implemented", *out,
                    TD_INPUTS(self, values));
  return TD_OK;
}
