/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Random tensors. What is drawn for them, and in which order, is PyTorch's. A generator of NULL is
 * the default one. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/ops/base/generator.h"
#include "engine/torch/tensor/tensor.h"

/* td_op_rand fills a new tensor with uniform numbers in [0, 1), td_op_randn with normal ones.
 * Floating dtypes. */
td_status td_op_rand(td_generator *generator, td_dtype dtype, td_device device, int n_dims,
                     const int64_t *sizes, td_tensor **out, td_error *error);
td_status td_op_randn(td_generator *generator, td_dtype dtype, td_device device, int n_dims,
                      const int64_t *sizes, td_tensor **out, td_error *error);

/* td_op_uniform_into, td_op_normal_into ... refill a tensor in place by two numbers: see
 * random.def. td_op_random_into draws integers in [from, to); without `bounded`, all that the dtype
 * can hold exactly. */
#define TD_RANDOM(name, ...)                                                                       \
  td_status td_op_##name##_into(td_generator *generator, td_tensor *self, double a, double b,      \
                                td_error *error);
#include "engine/torch/ops/random/random.def"
#undef TD_RANDOM
td_status td_op_random_into(td_generator *generator, td_tensor *self, bool bounded, int64_t from,
                            int64_t to, td_error *error);

/* td_op_randint makes a tensor of integers in [from, to). td_op_randperm is a random permutation of
 * 0 .. n - 1, int64. */
td_status td_op_randint(td_generator *generator, int64_t from, int64_t to, td_dtype dtype,
                        td_device device, int n_dims, const int64_t *sizes, td_tensor **out,
                        td_error *error);
td_status td_op_randperm(td_generator *generator, int64_t n, td_tensor **out, td_error *error);

/* td_op_dropout_noise fills a new, contiguous tensor: an element is 1 / p with probability p, else
 * 0. */
td_status td_op_dropout_noise(td_tensor *noise, double p, td_error *error);
