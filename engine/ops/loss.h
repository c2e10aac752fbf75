/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Softmax and losses. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/tensor/tensor.h"

typedef enum td_reduction { TD_REDUCTION_NONE, TD_REDUCTION_MEAN, TD_REDUCTION_SUM } td_reduction;

/* td_op_softmax (SoftmaxBackward0) and td_op_log_softmax (LogSoftmaxBackward0) along a dimension.
 */
td_status td_op_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);
td_status td_op_log_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);

/* td_op_nll_loss: self [n, classes] log-probabilities, target [n] int64 (NllLossBackward0, one
 * edge); TD_OUT_OF_RANGE "Target 7 is out of bounds." td_op_cross_entropy: log_softmax, then
 * nll_loss. */
td_status td_op_nll_loss(td_tensor *self, td_tensor *target, td_reduction reduction,
                         td_tensor **out, td_error *error);
td_status td_op_cross_entropy(td_tensor *self, td_tensor *target, td_reduction reduction,
                              td_tensor **out, td_error *error);

/* td_op_mse_loss (MseLossBackward0, edges self, target). Operands that differ in sizes are
 * expanded first (ExpandBackward0). */
td_status td_op_mse_loss(td_tensor *self, td_tensor *target, td_reduction reduction,
                         td_tensor **out, td_error *error);
