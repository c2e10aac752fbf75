/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The largest element, and where it is. */
#include "engine/ops/compare.h"
#include "engine/ops/op.h"
#include "engine/ops/reduce.h"

#include <math.h>

/* r = max x:  dx = dr / n at the n elements equal to r. Equal NaNs: where x is one. */
static td_status
max_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(self);
  TD_LOCAL(result);
  TD_LOCAL(mask);
  TD_LOCAL(count);
  TD_LOCAL(share);
  TD_LOCAL(zero);
  TD_TRY(td_op_saved(op, 0, &self, error));
  TD_TRY(td_op_saved(op, 1, &result, error));
  if (isnan(td_tensor_item(result)))
    TD_TRY(td_op_isnan(self, &mask, error));
  else
    TD_TRY(td_op_eq(self, result, &mask, error));
  TD_TRY(td_op_sum(mask, &count, error));
  TD_TRY(td_op_div(grad, count, &share, error));
  zero = td_op_scalar(grad, 0, false);
  return td_op_where(mask, share, zero, out, error);
}
static const td_op_class max_class = TD_OP_CLASS("MaxBackward1", max_formula);

/* The first index in a row of the largest element; a NaN is larger than anything. */
#define ARGMAX(T, x, n, step, best)                                                                \
  for (int64_t i = 1; i < (n); i++) {                                                              \
    const T now = (x)[i * (step)], record = (x)[best * (step)];                                    \
    if (now > record || (now != now && record == record)) best = i;                                \
  }

static int64_t
argmax(td_dtype dtype, const void *data, int64_t n, int64_t step) {
  int64_t best = 0;
  TD_DISPATCH(dtype, const T *x = data; ARGMAX(T, x, n, step, best))
  return best;
}

static td_status
argmax_contiguous(td_tensor *self, const char *what, td_tensor **contiguous, int64_t *index,
                  td_error *error) {
  int64_t n = td_tensor_n_elements(self);
  if (n == 0)
    return td_error_set(error, TD_INVALID,
                        "%s: Expected reduction dim to be specified for input.numel() == 0. "
                        "Specify the reduction dim with the 'dim' argument.",
                        what);
  TD_TRY(td_kernel_contiguous(self, contiguous, error));
  if (TD_LAUNCH("argmax", 0, *contiguous))
    *index = argmax(self->dtype, td_tensor_data(*contiguous), n, 1);
  return TD_OK;
}

td_status
td_op_max(td_tensor *self, td_tensor **out, td_error *error) {
  TD_LOCAL(contiguous);
  int64_t index = 0;
  TD_TRY(argmax_contiguous(self, "max()", &contiguous, &index, error));
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, 0, NULL, out, error));
  size_t size = td_dtype_size(self->dtype);
  if (TD_LAUNCH("max", 1, *out, contiguous))
    memcpy(td_tensor_data(*out), (char *)td_tensor_data(contiguous) + (size_t)index * size, size);
  td_op_node *op = td_op_begin(&max_class, sizeof *op, TD_INPUTS(self));
  if (op) {
    td_op_save(op, 0, self);
    td_op_end(op, *out);
    td_op_save_result(op, 1, *out);
  }
  return TD_OK;
}

td_status
td_op_argmax(td_tensor *self, td_tensor **out, td_error *error) {
  TD_LOCAL(contiguous);
  int64_t index = 0;
  TD_TRY(argmax_contiguous(self, "argmax()", &contiguous, &index, error));
  *out = td_tensor_new_scalar(TD_INT64, self->device, 0);
  td_tensor_set(*out, 0, (double)index);
  return TD_OK;
}

td_status
td_op_argmax_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out, td_error *error) {
  int at;
  TD_LOCAL(kept);
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (self->n_dims == 0) return td_op_argmax(self, out, error);
  int64_t n = self->sizes[at], stride = self->strides[at];
  if (n == 0)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "argmax(): Expected reduction dim %d to have non-zero size.", at);
  td_sizes sizes = td_op_sizes(self);
  sizes.at[at] = 1;
  TD_TRY(td_tensor_new(TD_INT64, self->device, sizes.n_dims, sizes.at, &kept, error));
  td_walk walk;
  td_walk_init_lines(&walk, at, 2, (const td_tensor *[]){kept, self});
  int64_t element = (int64_t)td_dtype_size(self->dtype);
  while (td_walk_row(&walk))
    for (int64_t i = 0; i < walk.n; i++)
      ((int64_t *)walk.at[0])[i * walk.step[0]] =
          argmax(self->dtype, (char *)walk.at[1] + i * walk.step[1] * element, n, stride);
  if (!keepdim) return td_op_squeeze_dim(kept, at, out, error);
  *out = TD_TAKE(kept);
  return TD_OK;
}
