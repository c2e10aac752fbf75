/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backward formula of all normalizations as operations, for passes that record a graph of their
 * own: it can be differentiated any number of times. Private to engine/ops. */
#pragma once

#include "engine/graph/function.h"

/* input, and a weight (or NULL) that broadcasts to it as `affine` says; the normalization was over
 * `dims` with the input's own moments, or with the given ones, which broadcast too. All borrowed.
 */
typedef struct td_normalized {
  td_tensor *input, *weight;
  td_input_metadata affine;
  int n_dims, dims[TD_MAX_DIMS];
  double eps;
  td_tensor *mean, *invstd; /* NULL, or given */
} td_normalized;

/* td_normalize_wants_graph tells whether a backward pass shall record: grad mode is on and any of
 * the operands requires grad. */
bool td_normalize_wants_graph(td_tensor *grad, td_tensor *input, td_tensor *weight);

/* td_normalize_gradients computes the gradients by input, weight and bias, the latter two as they
 * broadcast: those that are wanted, NULL otherwise. On failure out holds nothing. */
td_status td_normalize_gradients(const td_normalized *self, td_tensor *grad, const bool wanted[3],
                                 td_tensor *out[3], td_error *error);
