/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels of attention: one head of one element of the batch. With weights P = softmax(S),
 * S = scale q k^T + mask, the result is P v. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/linalg/gemm.h"

/* The matrices of a head, over n_queries, n_keys and n_size. Their dtype is floating. */
typedef struct td_attention_head {
  td_dtype dtype;
  int64_t n_queries, n_keys, n_size;
  td_matrix query, key, value, output, mask; /* mask.data may be NULL */
  void *logsum;                              /* [n_queries]: logarithms of the sums in softmax */
  bool is_causal;
  double scale;
} td_attention_head;

/* td_attention_forward writes output and logsum. `weights` is room for n_queries rows of n_keys. */
void td_attention_forward(const td_attention_head *h, void *weights);

/* What the node has edges to. */
enum {
  TD_ATTENTION_BY_QUERY,
  TD_ATTENTION_BY_KEY,
  TD_ATTENTION_BY_VALUE,
  TD_ATTENTION_N_GRADIENTS
};

/* The gradients of a head; those by key and value are added up. No data: not wanted. */
typedef struct td_attention_gradients {
  td_matrix by[TD_ATTENTION_N_GRADIENTS];
} td_attention_gradients;

/* td_attention_backward computes P once more, from logsum. It needs room for two such matrices. */
void td_attention_backward(const td_attention_head *h, td_matrix d_output, td_attention_gradients d,
                           void *weights, void *d_weights);
