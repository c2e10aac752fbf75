/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One layer of an LSTM in one direction, as one node. See pointwise.h for the rules of all
 * operations. */
#pragma once

#include "engine/torch/ops/nn/lstm_operands.h"
#include "engine/torch/tensor/tensor.h"

/* td_op_lstm_layer computes a layer (MkldnnRnnLayerBackward0). If it goes in reverse, the first
 * time is the last of the input. Only for float32: TD_DTYPE. TD_SHAPE for sizes that do not fit. */
td_status td_op_lstm_layer(td_tensor *const operands[TD_LSTM_N_OPERANDS], bool reverse,
                           td_tensor *results[TD_LSTM_N_RESULTS], td_error *error);
