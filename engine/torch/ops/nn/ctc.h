/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connectionist temporal classification. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_ctc_loss: what each sequence of a batch loses (CtcLossBackward0, edge log_probs). log_probs
 * is [time, batch, classes]. targets is [batch, most] or all of them in a row, int64. The lengths
 * are int64 [batch], on the CPU. TD_SHAPE, TD_DTYPE, TD_INVALID. zero_infinity: an infinite loss
 * has no gradient. The gradient is the one by what log_softmax took, as PyTorch's. */
td_status td_op_ctc_loss(td_tensor *log_probs, td_tensor *targets, td_tensor *input_lengths,
                         td_tensor *target_lengths, int64_t blank, bool zero_infinity,
                         td_tensor **out, td_error *error);
