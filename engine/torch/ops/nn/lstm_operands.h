/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What goes into a layer of an LSTM in one direction, and what comes out. */
#pragma once

/* The operands, in the order of the node's edges. There are T times, B sequences, I inputs and H
 * hidden units. The state h and c is that before the first time. Biases may both be NULL. Weights
 * and biases have rows for the input, forget, cell and output gate. */
typedef enum td_lstm_operand {
  TD_LSTM_INPUT, /* [T, B, I] */
  TD_LSTM_W_IH,  /* [4 H, I] */
  TD_LSTM_W_HH,  /* [4 H, H] */
  TD_LSTM_B_IH,  /* [4 H] */
  TD_LSTM_B_HH,
  TD_LSTM_H, /* [B, H] */
  TD_LSTM_C,
  TD_LSTM_N_OPERANDS
} td_lstm_operand;

/* The results: h of all times [T, B, H], and the state after the last time, h and c [B, H]. */
typedef enum td_lstm_result {
  TD_LSTM_OUTPUT,
  TD_LSTM_LAST_H,
  TD_LSTM_LAST_C,
  TD_LSTM_N_RESULTS
} td_lstm_result;
