/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Updates in place, for optimizers and initialisation: without history. */
#include "engine/ops/op.h"

static td_status
check_writable(td_tensor *self, td_error *error) {
  if (!td_grad_mode() || !td_requires_grad(self)) return TD_OK;
  if (td_is_leaf(self))
    return td_error_set(error, TD_AUTOGRAD,
                        "a leaf Variable that requires grad is being used in an in-place "
                        "operation.");
  return td_error_set(error, TD_AUTOGRAD,
                      "an in-place operation on a tensor with history is not supported");
}

static td_status
check_operand(td_tensor *self, td_tensor *other, td_error *error) {
  td_sizes own = td_op_sizes(self), others = td_op_sizes(other), both;
  td_device device;
  TD_TRY(check_writable(self, error));
  if (td_grad_mode() && td_requires_grad(other))
    return td_error_set(error, TD_AUTOGRAD,
                        "an in-place operation with a tensor that requires grad is not supported");
  TD_TRY(td_op_common_device(2, (td_tensor *[]){self, other}, &device, error));
  TD_TRY(td_op_broadcast(&own, &others, &both, error));
  if (both.n_dims == own.n_dims && memcmp(both.at, own.at, own.n_dims * sizeof *own.at) == 0)
    return TD_OK;
  char *from = td_sizes_text(own.n_dims, own.at), *to = td_sizes_text(both.n_dims, both.at);
  td_error_set(error, TD_SHAPE, "output with shape %s doesn't match the broadcast shape %s", from,
               to);
  free(from);
  free(to);
  return TD_SHAPE;
}

#define INTO_ROWS(expression)                                                                      \
  TD_DISPATCH(                                                                                     \
      self->dtype, const T scale = (T)alpha; while (td_walk_row(&walk)) {                          \
        T *to = walk.at[0];                                                                        \
        const T *from = walk.at[1];                                                                \
        for (int64_t i = 0; i < walk.n; i++) {                                                     \
          const T x = to[i * walk.step[0]], y = from[i * walk.step[1]];                            \
          to[i * walk.step[0]] = (T)(expression);                                                  \
        }                                                                                          \
      })

static td_status
update(td_tensor *self, td_tensor *other, bool multiply, double alpha, td_error *error) {
  TD_TRY(check_operand(self, other, error));
  if (td_dtype_is_floating(other->dtype) && !td_dtype_is_floating(self->dtype))
    return td_error_set(error, TD_DTYPE,
                        "result type %s can't be cast to the desired output type %s",
                        td_dtype_name(other->dtype), td_dtype_name(self->dtype));
  TD_LOCAL(cast);
  TD_TRY(td_kernel_cast(other, self->dtype, &cast, error));
  td_walk walk;
  td_walk_init(&walk, self->n_dims, self->sizes, 2, (const td_tensor *[]){self, cast});
  if (multiply)
    INTO_ROWS(x * y * scale)
  else
    INTO_ROWS(x + scale * y)
  return TD_OK;
}

td_status
td_op_add_into(td_tensor *self, td_tensor *other, double alpha, td_error *error) {
  return update(self, other, false, alpha, error);
}

td_status
td_op_mul_into(td_tensor *self, td_tensor *other, td_error *error) {
  return update(self, other, true, 1, error);
}

td_status
td_op_copy_into(td_tensor *self, td_tensor *source, td_error *error) {
  TD_TRY(check_writable(self, error));
  TD_LOCAL(expanded);
  TD_LOCAL(detached);
  TD_TRY(td_kernel_check_source(source, self->device, error));
  detached = td_tensor_detach(source);
  TD_TRY(td_op_expand(detached, self->n_dims, self->sizes, &expanded, error));
  td_kernel_copy(self, expanded);
  return TD_OK;
}

td_status
td_op_fill_into(td_tensor *self, double value, td_error *error) {
  TD_TRY(check_writable(self, error));
  td_kernel_fill(self, value);
  return TD_OK;
}
