/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backward formula of all normalizations, made of operations. Passes that record a graph of
 * their own use it: it can be differentiated any number of times. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/graph/function.h"

/* What was normalized: input over `dims`, with its own moments or with the given ones. A weight (or
 * NULL) broadcasts to input as `affine` says; given moments broadcast too. All borrowed. */
typedef struct td_normalized {
  td_tensor *input, *weight;
  td_input_metadata affine;
  int n_dims, dims[TD_MAX_DIMS];
  double eps;
  td_tensor *mean, *invstd; /* NULL, or given */
} td_normalized;

/* td_normalize_wants_graph tells whether a backward pass records: grad mode is on and an operand
 * requires grad. */
bool td_normalize_wants_graph(td_tensor *grad, td_tensor *input, td_tensor *weight);

/* td_normalize_gradients computes the wanted gradients by input, weight and bias; the others are
 * NULL. Those of weight and bias have the sizes that these broadcast with. On failure out holds
 * nothing. */
td_status td_normalize_gradients(const td_normalized *self, td_tensor *grad, const bool wanted[3],
                                 td_tensor *out[3], td_error *error);
