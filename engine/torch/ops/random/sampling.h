/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Samples of distributions that tensors describe. Gradients of the parameters are zeros. A
 * generator of NULL is the default one. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/ops/base/generator.h"
#include "engine/torch/tensor/tensor.h"

/* td_op_bernoulli is 1 with the probability that self says (BernoulliBackward0), td_op_poisson a
 * number of events (PoissonBackward0). */
td_status td_op_bernoulli(td_generator *generator, td_tensor *self, td_tensor **out,
                          td_error *error);
td_status td_op_poisson(td_generator *generator, td_tensor *self, td_tensor **out, td_error *error);

/* td_op_bernoulli_tensor_into takes the probabilities from a tensor (BernoulliBackward1). */
td_status td_op_bernoulli_tensor_into(td_generator *generator, td_tensor *self, td_tensor *p,
                                      td_error *error);

/* td_op_normal_tensor is a normal number for each mean and std. Either may be NULL, which means the
 * number beside it (NormalBackward1, 2, 3). */
td_status td_op_normal_tensor(td_generator *generator, td_tensor *mean, double mean_number,
                              td_tensor *std, double std_number, td_tensor **out, td_error *error);

/* td_op_multinomial draws n indices by the weights of each row, int64. */
td_status td_op_multinomial(td_generator *generator, td_tensor *self, int64_t n, bool replacement,
                            td_tensor **out, td_error *error);
