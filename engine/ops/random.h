/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Random tensors, by the Mersenne twister of PyTorch's CPU generator. Its streams of uniform and
 * normal numbers are PyTorch's, so a script with a seed sees the same values. One generator per
 * process, under its own lock. */
#pragma once

#include "engine/tensor/tensor.h"

/* td_manual_seed restarts the generator. Without it the seed is 5489. */
void td_manual_seed(uint64_t seed);

/* The generator's state. td_generator_set returns to a state that td_generator_get wrote. */
#define TD_GENERATOR_WORDS 624
typedef struct td_generator_state {
  uint32_t words[TD_GENERATOR_WORDS];
  int next; /* TD_GENERATOR_WORDS: the words are used up */
  bool seeded;
  bool has_normal;
  double normal; /* the second of a pair of normal numbers */
} td_generator_state;
void td_generator_get(td_generator_state *state);
void td_generator_set(const td_generator_state *state);

/* td_op_rand fills a new tensor with uniform numbers in [0, 1), td_op_randn with normal ones.
 * Floating dtypes. */
td_status td_op_rand(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                     td_tensor **out, td_error *error);
td_status td_op_randn(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                      td_tensor **out, td_error *error);

/* td_op_uniform_into and td_op_normal_into refill a tensor in place, without history: parameter
 * initialisation. */
td_status td_op_uniform_into(td_tensor *self, double from, double to, td_error *error);
td_status td_op_normal_into(td_tensor *self, double mean, double std, td_error *error);

/* td_op_randperm is a random permutation of 0 .. n - 1, int64. */
td_status td_op_randperm(int64_t n, td_tensor **out, td_error *error);

/* td_op_bernoulli_into fills a new, contiguous tensor for dropout: an element is 1 / p with
 * probability p, else 0. */
td_status td_op_bernoulli_into(td_tensor *noise, double p, td_error *error);
