/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Softmax and losses. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

typedef enum td_reduction { TD_REDUCTION_NONE, TD_REDUCTION_MEAN, TD_REDUCTION_SUM } td_reduction;

/* td_op_softmax (SoftmaxBackward0) and td_op_log_softmax (LogSoftmaxBackward0) along a dimension.
 */
td_status td_op_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);
td_status td_op_log_softmax(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);

/* td_op_nll_loss: self [n, classes, ...] log-probabilities, target [n, ...] int64
 * (NllLossBackward0; with further dimensions NllLoss2DBackward0; one edge). weight [classes] may be
 * NULL; targets equal to ignore_index do not count. TD_OUT_OF_RANGE "Target 7 is out of bounds." */
td_status td_op_nll_loss_full(td_tensor *self, td_tensor *target, td_tensor *weight,
                              int64_t ignore_index, td_reduction reduction, td_tensor **out,
                              td_error *error);

/* td_op_cross_entropy_full: log_softmax, then nll_loss; smoothed or with probabilities as target, a
 * composition as in PyTorch. */
td_status td_op_cross_entropy_full(td_tensor *self, td_tensor *target, td_tensor *weight,
                                   int64_t ignore_index, td_reduction reduction, double smoothing,
                                   td_tensor **out, td_error *error);

/* The same without weight, ignoring -100. */
td_status td_op_nll_loss(td_tensor *self, td_tensor *target, td_reduction reduction,
                         td_tensor **out, td_error *error);
td_status td_op_cross_entropy(td_tensor *self, td_tensor *target, td_reduction reduction,
                              td_tensor **out, td_error *error);

/* td_op_mse_loss (MseLossBackward0, edges self, target). Operands that differ in sizes are
 * expanded first (ExpandBackward0). So too td_op_smooth_l1_loss, quadratic below beta
 * (SmoothL1LossBackward0), and td_op_huber_loss below delta (HuberLossBackward0). */
td_status td_op_mse_loss(td_tensor *self, td_tensor *target, td_reduction reduction,
                         td_tensor **out, td_error *error);
td_status td_op_smooth_l1_loss(td_tensor *self, td_tensor *target, td_reduction reduction,
                               double beta, td_tensor **out, td_error *error);
td_status td_op_huber_loss(td_tensor *self, td_tensor *target, td_reduction reduction, double delta,
                           td_tensor **out, td_error *error);

/* td_op_l1_loss and td_op_kl_div are compositions. */
td_status td_op_l1_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
                        td_error *error);
td_status td_op_kl_div(td_tensor *self, td_tensor *target, td_reduction reduction, bool log_target,
                       td_tensor **out, td_error *error);

/* td_op_binary_cross_entropy of probabilities (BinaryCrossEntropyBackward0), of logits
 * (BinaryCrossEntropyWithLogitsBackward0); edges self, target. weight and pos_weight may be NULL
 * and broadcast. */
td_status td_op_binary_cross_entropy(td_tensor *self, td_tensor *target, td_tensor *weight,
                                     td_reduction reduction, td_tensor **out, td_error *error);
td_status td_op_binary_cross_entropy_with_logits(td_tensor *self, td_tensor *target,
                                                 td_tensor *weight, td_tensor *pos_weight,
                                                 td_reduction reduction, td_tensor **out,
                                                 td_error *error);
