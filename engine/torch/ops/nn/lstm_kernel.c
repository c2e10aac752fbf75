/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/lstm_kernel.h"

#include "engine/torch/ops/linalg/gemm.h"

#include <math.h>
#include <stddef.h>

static td_matrix
rows_of(const float *data, int64_t n_columns) {
  return (td_matrix){(void *)data, n_columns, 1};
}

static td_matrix
columns_of(const float *data, int64_t n_columns) {
  return (td_matrix){(void *)data, 1, n_columns};
}

/* The place in the sequence of what is computed at a step. */
static int64_t
time_of(const td_lstm_layer *l, int64_t step) {
  return l->reverse ? l->n_times - 1 - step : step;
}

/* The state before a step: of the step before in `all`, or the first one. */
static const float *
before(const td_lstm_layer *l, const float *all, const float *first, int64_t step) {
  return step ? all + time_of(l, step - 1) * l->n_batch * l->n_hidden : first;
}

static float
sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

static void
activate(const td_lstm_layer *l, const td_lstm_elements *e, int64_t step) {
  const float *b_ih = e->operands[TD_LSTM_B_IH], *b_hh = e->operands[TD_LSTM_B_HH];
  const float *c_before = before(l, e->cells, e->operands[TD_LSTM_C], step);
  int64_t n = l->n_hidden, first = time_of(l, step) * l->n_batch;
  for (int64_t row = 0; row < l->n_batch; row++, c_before += n) {
    float *gates = e->gates + (first + row) * 4 * n, *c = e->cells + (first + row) * n;
    for (int64_t i = 0; b_ih && i < 4 * n; i++)
      gates[i] += b_ih[i] + b_hh[i];
    for (int64_t i = 0; i < n; i++) {
      float *in = gates + i, *forget = in + n, *cell = forget + n, *out = cell + n;
      *in = sigmoid(*in);
      *forget = sigmoid(*forget);
      *cell = tanhf(*cell);
      *out = sigmoid(*out);
      c[i] = *forget * c_before[i] + *in * *cell;
      e->output[(first + row) * n + i] = *out * tanhf(c[i]);
    }
  }
}

void
td_lstm_forward(const td_lstm_layer *l, const td_lstm_elements *e) {
  int64_t n_gates = 4 * l->n_hidden, n_rows = l->n_times * l->n_batch;
  td_gemm(TD_FLOAT32, n_rows, l->n_inputs, n_gates,
          rows_of(e->operands[TD_LSTM_INPUT], l->n_inputs),
          columns_of(e->operands[TD_LSTM_W_IH], l->n_inputs), rows_of(e->gates, n_gates), false);
  for (int64_t step = 0; step < l->n_times; step++) {
    const float *h = before(l, e->output, e->operands[TD_LSTM_H], step);
    float *gates = e->gates + time_of(l, step) * l->n_batch * n_gates;
    td_gemm(TD_FLOAT32, l->n_batch, l->n_hidden, n_gates, rows_of(h, l->n_hidden),
            columns_of(e->operands[TD_LSTM_W_HH], l->n_hidden), rows_of(gates, n_gates), true);
    activate(l, e, step);
  }
}

static void
gradients_of_step(const td_lstm_layer *l, const td_lstm_elements *e, const td_lstm_flow *f,
                  int64_t step) {
  const float *c_before = before(l, e->cells, e->operands[TD_LSTM_C], step);
  int64_t n = l->n_hidden, first = time_of(l, step) * l->n_batch;
  for (int64_t row = 0; row < l->n_batch; row++)
    for (int64_t i = 0; i < n; i++) {
      int64_t at = (first + row) * n + i, here = row * n + i;
      const float *gates = e->gates + (first + row) * 4 * n + i;
      float in = gates[0], forget = gates[n], cell = gates[2 * n], out = gates[3 * n];
      float d_h = f->d_h[here] + (f->d_output ? f->d_output[at] : 0), c = tanhf(e->cells[at]);
      float d_c = f->d_c[here] + d_h * out * (1 - c * c);
      float *d_gates = f->d_gates + (first + row) * 4 * n + i;
      d_gates[0] = d_c * cell * in * (1 - in);
      d_gates[n] = d_c * c_before[here] * forget * (1 - forget);
      d_gates[2 * n] = d_c * in * (1 - cell * cell);
      d_gates[3 * n] = d_h * c * out * (1 - out);
      f->d_c[here] = d_c * forget;
    }
}

void
td_lstm_backward(const td_lstm_layer *l, const td_lstm_elements *e, const td_lstm_flow *f) {
  int64_t n_gates = 4 * l->n_hidden;
  for (int64_t step = l->n_times - 1; step >= 0; step--) {
    gradients_of_step(l, e, f, step);
    const float *d_gates = f->d_gates + time_of(l, step) * l->n_batch * n_gates;
    td_gemm(TD_FLOAT32, l->n_batch, n_gates, l->n_hidden, rows_of(d_gates, n_gates),
            rows_of(e->operands[TD_LSTM_W_HH], l->n_hidden), rows_of(f->d_h, l->n_hidden), false);
  }
}

static void
gradient_of_w_hh(const td_lstm_layer *l, const td_lstm_elements *e, const float *d_gates,
                 float *out) {
  int64_t n_gates = 4 * l->n_hidden;
  for (int64_t step = 0; step < l->n_times; step++) {
    const float *h = before(l, e->output, e->operands[TD_LSTM_H], step);
    const float *here = d_gates + time_of(l, step) * l->n_batch * n_gates;
    td_gemm(TD_FLOAT32, n_gates, l->n_batch, l->n_hidden, columns_of(here, n_gates),
            rows_of(h, l->n_hidden), rows_of(out, l->n_hidden), step > 0);
  }
}

static void
gradient_of_bias(const td_lstm_layer *l, const float *d_gates, float *out) {
  int64_t n_gates = 4 * l->n_hidden;
  for (int64_t row = 0; row < l->n_times * l->n_batch; row++)
    for (int64_t i = 0; i < n_gates; i++)
      out[i] += d_gates[row * n_gates + i];
}

void
td_lstm_gradients(const td_lstm_layer *l, const td_lstm_elements *e, const float *d_gates,
                  float *out[TD_LSTM_N_OPERANDS]) {
  int64_t n_gates = 4 * l->n_hidden, n_rows = l->n_times * l->n_batch;
  if (out[TD_LSTM_INPUT])
    td_gemm(TD_FLOAT32, n_rows, n_gates, l->n_inputs, rows_of(d_gates, n_gates),
            rows_of(e->operands[TD_LSTM_W_IH], l->n_inputs),
            rows_of(out[TD_LSTM_INPUT], l->n_inputs), false);
  if (out[TD_LSTM_W_IH])
    td_gemm(TD_FLOAT32, n_gates, n_rows, l->n_inputs, columns_of(d_gates, n_gates),
            rows_of(e->operands[TD_LSTM_INPUT], l->n_inputs),
            rows_of(out[TD_LSTM_W_IH], l->n_inputs), false);
  if (out[TD_LSTM_W_HH]) gradient_of_w_hh(l, e, d_gates, out[TD_LSTM_W_HH]);
  if (out[TD_LSTM_B_IH]) gradient_of_bias(l, d_gates, out[TD_LSTM_B_IH]);
}

int64_t
td_lstm_last_time(const td_lstm_layer *l) {
  return time_of(l, l->n_times - 1);
}
