/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/pointwise/logic.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"

typedef int64_t type_INT64;
typedef bool type_BOOL;

#define TD_LOGIC(name, type, expression)                                                           \
  static void name##_kernel(td_walk *walk) {                                                       \
    while (td_walk_row(walk))                                                                      \
      for (int64_t i = 0; i < walk->n; i++) {                                                      \
        const type_##type x = ((const type_##type *)walk->at[1])[i * walk->step[1]],               \
                          y = ((const type_##type *)walk->at[2])[i * walk->step[2]];               \
        ((type_##type *)walk->at[0])[i * walk->step[0]] = (expression);                            \
      }                                                                                            \
  }
#include "engine/torch/ops/pointwise/logic.def"
#undef TD_LOGIC

static td_status
want_integers(const td_tensor *a, const td_tensor *b, const char *what, td_error *error) {
  const td_tensor *fractions = td_dtype_is_differentiable(a->dtype)   ? a
                               : td_dtype_is_differentiable(b->dtype) ? b
                                                                      : NULL;
  if (!fractions) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED, "\"%s_cpu\" not implemented for '%s'", what,
                      td_op_scalar_type(td_op_promote(a, b)));
}

/* Computes in one dtype; the result becomes another. */
static td_status
apply(void (*kernel)(td_walk *walk), const char *name, td_dtype computed, td_dtype dtype,
      td_tensor *a, td_tensor *b, td_tensor **out, td_error *error) {
  td_device device;
  td_sizes a_sizes = td_op_sizes(a), b_sizes = td_op_sizes(b), sizes;
  TD_LOCAL(a_cast);
  TD_LOCAL(b_cast);
  TD_LOCAL(made);
  TD_TRY(td_op_want_dense(a->sparse ? a : b, name, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){a, b}, &device, error));
  TD_TRY(td_op_broadcast(&a_sizes, &b_sizes, &sizes, error));
  TD_TRY(td_kernel_cast(a, computed, &a_cast, error));
  TD_TRY(td_kernel_cast(b, computed, &b_cast, error));
  TD_TRY(td_tensor_new_empty(computed, device, sizes.n_dims, sizes.at, &made, error));
  td_walk walk;
  td_walk_init(&walk, sizes.n_dims, sizes.at, 3, (const td_tensor *[]){made, a_cast, b_cast});
  kernel(&walk);
  return td_kernel_cast(made, dtype, out, error);
}

#define TD_LOGIC(name, type, expression)                                                           \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {    \
    td_dtype dtype = TD_##type == TD_BOOL ? TD_BOOL : td_op_promote(self, other);                  \
    if (TD_##type != TD_BOOL) TD_TRY(want_integers(self, other, #name, error));                    \
    return apply(name##_kernel, #name, TD_##type, dtype, self, other, out, error);                 \
  }
#include "engine/torch/ops/pointwise/logic.def"
#undef TD_LOGIC

td_status
td_op_logical_not(td_tensor *self, td_tensor **out, td_error *error) {
  TD_LOCAL(zero);
  zero = td_op_scalar(self, 0, true);
  return td_op_eq(self, zero, out, error);
}

td_status
td_op_bitwise_not(td_tensor *self, td_tensor **out, td_error *error) {
  TD_TRY(want_integers(self, self, "bitwise_not", error));
  return self->dtype == TD_BOOL ? td_op_logical_not(self, out, error)
                                : td_op_rsub(self, -1, out, error);
}

/* Bytes have answers of bytes. */
static td_status
as_answer(const td_tensor *self, td_tensor **out, td_error *error) {
  return td_op_rounded(out, self->dtype == TD_UINT8 ? TD_UINT8 : TD_BOOL, error);
}

td_status
td_op_any_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
               td_error *error) {
  TD_LOCAL(truths);
  TD_TRY(td_kernel_cast(self, TD_BOOL, &truths, error));
  TD_TRY(td_op_amax(truths, n_dims, dims, keepdim, out, error));
  return as_answer(self, out, error);
}

td_status
td_op_all_dims(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
               td_error *error) {
  TD_LOCAL(truths);
  TD_TRY(td_kernel_cast(self, TD_BOOL, &truths, error));
  TD_TRY(td_op_amin(truths, n_dims, dims, keepdim, out, error));
  return as_answer(self, out, error);
}
