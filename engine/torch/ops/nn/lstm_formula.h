/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backward formula of a layer of an LSTM, made of operations. Passes that record a graph of
 * their own use it. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/nn/lstm_operands.h"
#include "engine/torch/tensor/tensor.h"

/* td_lstm_formula computes the gradients by all operands; that of a missing bias too. A gradient of
 * a result may be NULL. On failure out holds nothing. */
td_status td_lstm_formula(td_tensor *const operands[TD_LSTM_N_OPERANDS], bool reverse,
                          td_tensor *const grads[TD_LSTM_N_RESULTS],
                          td_tensor *out[TD_LSTM_N_OPERANDS], td_error *error);
