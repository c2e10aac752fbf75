/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/dense.h"

#include "engine/torch/tensor/walk.h"

#define walk_like(walk, name, shape, ...)                                                          \
  td_walk_init_named(walk, name, 1, (shape)->n_dims, (shape)->sizes, __VA_ARGS__)

#define COPY_ROWS(to_type, from_type)                                                              \
  while (td_walk_row(&walk)) {                                                                     \
    to_type *to = walk.at[0];                                                                      \
    const from_type *from = walk.at[1];                                                            \
    int64_t to_step = walk.step[0], from_step = walk.step[1];                                      \
    if (walk.dense)                                                                                \
      for (int64_t i = 0; i < walk.n; i++)                                                         \
        to[i] = (to_type)from[i];                                                                  \
    else                                                                                           \
      for (int64_t i = 0; i < walk.n; i++)                                                         \
        to[i * to_step] = (to_type)from[i * from_step];                                            \
  }

/* The target type converts: int64_t and bool sources must not go through double. */
void
td_dense_copy(td_tensor *dst, const td_tensor *src) {
  td_walk walk;
  walk_like(&walk, "copy.out", dst, 2, (const td_tensor *[]){dst, src});
  TD_DISPATCH_ALL(dst->dtype, typedef T to_type; TD_DISPATCH_ALL(src->dtype, COPY_ROWS(to_type, T)))
}

td_status
td_dense_clone(const td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
               td_error *error) {
  td_status status = td_tensor_new_empty(dtype, device, tensor->n_dims, tensor->sizes, out, error);
  if (!status) td_dense_copy(*out, tensor);
  return status;
}

void
td_dense_add(td_tensor *sum, const td_tensor *a, const td_tensor *b) {
  td_walk walk;
  walk_like(&walk, "add.out", sum, 3, (const td_tensor *[]){sum, a, b});
  TD_DISPATCH_ALL(
      sum->dtype, while (td_walk_row(&walk)) {
        T *to = walk.at[0];
        const T *x = walk.at[1], *y = walk.at[2];
        if (walk.dense)
          for (int64_t i = 0; i < walk.n; i++)
            to[i] = x[i] + y[i];
        else
          for (int64_t i = 0; i < walk.n; i++)
            to[i * walk.step[0]] = x[i * walk.step[1]] + y[i * walk.step[2]];
      })
}

void
td_dense_add_into(td_tensor *a, const td_tensor *b) {
  td_dense_add(a, a, b);
}
