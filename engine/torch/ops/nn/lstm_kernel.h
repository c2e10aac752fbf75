/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels of a layer of an LSTM on plain arrays: products with all inputs at once, then the
 * times one by one. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/nn/lstm_operands.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct td_lstm_layer {
  int64_t n_times, n_batch, n_inputs, n_hidden;
  bool reverse;
} td_lstm_layer;

/* What both ways read and write. Biases may be NULL. */
typedef struct td_lstm_elements {
  const float *operands[TD_LSTM_N_OPERANDS];
  float *gates;  /* [T, B, 4 H], activated */
  float *cells;  /* [T, B, H]: c after each time */
  float *output; /* [T, B, H] */
} td_lstm_elements;

/* td_lstm_forward writes gates, cells and output. */
void td_lstm_forward(const td_lstm_layer *layer, const td_lstm_elements *e);

/* The gradients that flow back from time to time. Those of h and c start as those of the last
 * state. */
typedef struct td_lstm_flow {
  const float *d_output; /* [T, B, H], or NULL */
  float *d_gates;        /* [T, B, 4 H]: of the gates before they were activated */
  float *d_h, *d_c;      /* [B, H] */
} td_lstm_flow;

/* td_lstm_backward writes d_gates, d_h and d_c. td_lstm_gradients writes the gradients of those
 * operands that are not NULL, from d_gates; but those of h and c are what has flowed. */
void td_lstm_backward(const td_lstm_layer *layer, const td_lstm_elements *e, const td_lstm_flow *f);
void td_lstm_gradients(const td_lstm_layer *layer, const td_lstm_elements *e, const float *d_gates,
                       float *out[TD_LSTM_N_OPERANDS]);

/* td_lstm_last_time is the place in the sequence of what is computed last. */
int64_t td_lstm_last_time(const td_lstm_layer *layer);
