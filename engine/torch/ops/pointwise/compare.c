/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/pointwise/compare.h"

#include "engine/torch/ops/base/op.h"

#include <math.h>

typedef void (*compare_kernel)(td_walk *walk, td_dtype dtype);

#define TD_COMPARE(name, operator, dispatch, node)                                                 \
  static void name##_kernel(td_walk *walk, td_dtype dtype) {                                       \
    dispatch(                                                                                      \
        dtype, while (td_walk_row(walk)) {                                                         \
          bool *to = walk->at[0];                                                                  \
          const T *x = walk->at[1], *y = walk->at[2];                                              \
          for (int64_t i = 0; i < walk->n; i++)                                                    \
            to[i * walk->step[0]] = x[i * walk->step[1]] operator y[i * walk->step[2]];            \
        })                                                                                         \
  }
#include "engine/torch/ops/pointwise/compare.def"
#undef TD_COMPARE

static td_status
compare(compare_kernel kernel, const char *name, td_tensor *a, td_tensor *b, td_tensor **out,
        td_error *error) {
  td_device device;
  td_sizes a_sizes = td_op_sizes(a), b_sizes = td_op_sizes(b), sizes;
  bool ordered = name[0] == 'l' || name[0] == 'g';
  if (ordered) TD_TRY(td_op_want_real(td_dtype_is_complex(a->dtype) ? a : b, name, error));
  TD_TRY(td_op_want_dense(a->sparse ? a : b, name, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){a, b}, &device, error));
  TD_TRY(td_op_broadcast(&a_sizes, &b_sizes, &sizes, error));
  td_dtype dtype = td_op_promote(a, b);
  TD_LOCAL(a_cast);
  TD_LOCAL(b_cast);
  TD_TRY(td_kernel_cast(a, dtype, &a_cast, error));
  TD_TRY(td_kernel_cast(b, dtype, &b_cast, error));
  TD_TRY(td_tensor_laid_out(TD_BOOL, device, sizes.n_dims, sizes.at, 2, (const td_tensor *[]){a, b},
                            out, error));
  td_walk walk;
  td_walk_init(&walk, sizes.n_dims, sizes.at, 3, (const td_tensor *[]){*out, a_cast, b_cast});
  kernel(&walk, dtype);
  return TD_OK;
}

#define TD_COMPARE(name, operator, dispatch, node)                                                 \
  td_status td_op_##name(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {    \
    return compare(name##_kernel, #name "_cpu", self, other, out, error);                          \
  }
#include "engine/torch/ops/pointwise/compare.def"
#undef TD_COMPARE

/* A complex number is what one of its parts is. */
#define CLASSIFIED(dtype, ...)                                                                     \
  TD_DISPATCH_OVER(dtype, TD_DISPATCH_FLOATS(__VA_ARGS__) TD_DISPATCH_COMPLEX(__VA_ARGS__))
#define CLASSIFY(name, is)                                                                         \
  td_status td_op_##name(td_tensor *self, td_tensor **out, td_error *error) {                      \
    TD_TRY(td_tensor_new(TD_BOOL, self->device, self->n_dims, self->sizes, out, error));           \
    td_walk walk;                                                                                  \
    td_walk_init(&walk, self->n_dims, self->sizes, 2, (const td_tensor *[]){*out, self});          \
    CLASSIFIED(                                                                                    \
        self->dtype, while (td_walk_row(&walk)) {                                                  \
          bool *to = walk.at[0];                                                                   \
          const T *x = walk.at[1];                                                                 \
          for (int64_t i = 0; i < walk.n; i++)                                                     \
            to[i * walk.step[0]] =                                                                 \
                is(__real__ x[i * walk.step[1]]) || is(__imag__ x[i * walk.step[1]]);              \
        })                                                                                         \
    return TD_OK;                                                                                  \
  }
CLASSIFY(isnan, isnan)
CLASSIFY(isinf, isinf)

/* Bytes have answers of bytes. */
static td_tensor *
answer(const td_tensor *self, bool yes) {
  td_dtype dtype = self->dtype == TD_UINT8 ? TD_UINT8 : TD_BOOL;
  return td_tensor_new_scalar(dtype, self->device, yes);
}

/* Whether an element equal (as a truth) to `wanted` is there. */
static bool
contains(const td_tensor *self, bool wanted) {
  bool found = false;
  td_walk walk;
  td_walk_init_reading(&walk, self->n_dims, self->sizes, 1, (const td_tensor *[]){self});
  TD_DISPATCH_ALL(
      self->dtype, while (td_walk_row(&walk)) {
        const T *x = walk.at[0];
        for (int64_t i = 0; i < walk.n; i++)
          found |= (x[i * walk.step[0]] != 0) == wanted;
      })
  return found;
}

td_status
td_op_any(td_tensor *self, td_tensor **out, td_error *error) {
  *out = answer(self, contains(self, true));
  return TD_OK;
}

td_status
td_op_all(td_tensor *self, td_tensor **out, td_error *error) {
  *out = answer(self, !contains(self, false));
  return TD_OK;
}
