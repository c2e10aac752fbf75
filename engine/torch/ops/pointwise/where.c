/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/pointwise/pointwise.h"

/* c = m ? a : b:  da = m ? dc : 0,  db = m ? 0 : dc */
static td_status
where_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(condition);
  TD_LOCAL(zero);
  TD_TRY(td_op_saved(op, 0, &condition, error));
  zero = td_op_scalar(grad, 0, false);
  return td_op_where(condition, which == 0 ? grad : zero, which == 0 ? zero : grad, out, error);
}
static const td_op_class where_class = TD_OP_CLASS_LAST_FIRST("WhereBackward0", where_formula);

static void
where_kernel(td_tensor *out, const td_tensor *condition, const td_tensor *a, const td_tensor *b) {
  td_walk walk;
  td_walk_init(&walk, out->n_dims, out->sizes, 4, (const td_tensor *[]){out, condition, a, b});
  TD_DISPATCH_ALL(
      out->dtype, while (td_walk_row(&walk)) {
        T *to = walk.at[0];
        const bool *mask = walk.at[1];
        const T *x = walk.at[2], *y = walk.at[3];
        for (int64_t i = 0; i < walk.n; i++)
          to[i * walk.step[0]] = mask[i * walk.step[1]] ? x[i * walk.step[2]] : y[i * walk.step[3]];
      })
}

static td_status
where_result(td_tensor *condition, td_tensor *self, td_tensor *other, td_tensor **out,
             td_error *error) {
  TD_LOCAL(mask);
  if (condition->dtype != TD_BOOL && condition->dtype != TD_UINT8)
    return td_error_set(error, TD_DTYPE,
                        "where expected condition to be a boolean tensor, but got a tensor with "
                        "dtype %s",
                        td_dtype_name(condition->dtype));
  td_device device;
  td_sizes a = td_op_sizes(self), b = td_op_sizes(other), c = td_op_sizes(condition), both, sizes;
  TD_TRY(td_op_common_device(3, (td_tensor *[]){condition, self, other}, &device, error));
  TD_TRY(td_op_broadcast(&a, &b, &both, error));
  TD_TRY(td_op_broadcast(&c, &both, &sizes, error));
  td_dtype dtype = td_op_promote(self, other);
  TD_LOCAL(self_cast);
  TD_LOCAL(other_cast);
  TD_TRY(td_kernel_cast(condition, TD_BOOL, &mask, error));
  TD_TRY(td_kernel_cast(self, dtype, &self_cast, error));
  TD_TRY(td_kernel_cast(other, dtype, &other_cast, error));
  TD_TRY(td_tensor_laid_out(dtype, device, sizes.n_dims, sizes.at, 3,
                            (const td_tensor *[]){condition, self, other}, out, error));
  where_kernel(*out, mask, self_cast, other_cast);
  return TD_OK;
}

td_status
td_op_where(td_tensor *condition, td_tensor *self, td_tensor *other, td_tensor **out,
            td_error *error) {
  td_tensor *result;
  TD_TRY(where_result(condition, self, other, &result, error));
  td_op_node *op = td_op_begin(&where_class, sizeof *op, TD_INPUTS(self, other));
  if (op) {
    td_op_save(op, 0, condition);
    td_op_end(op, result);
  }
  *out = result;
  return TD_OK;
}
