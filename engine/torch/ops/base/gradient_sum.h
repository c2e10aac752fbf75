/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sums that undo broadcasting of gradients. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/graph/function.h"

/* td_op_sum_to sums a gradient to `sizes`. The sum has a history if grad mode is on and the
 * gradient requires grad. TD_SHAPE if the gradient does not fit. */
td_status td_op_sum_to(td_tensor *grad, int n_dims, const int64_t *sizes, td_tensor **out,
                       td_error *error);

/* td_op_reduce_to undoes broadcasting, promotion and moving. It sums, casts and copies a gradient
 * until it is like `like`. */
td_status td_op_reduce_to(td_tensor *grad, const td_input_metadata *like, td_tensor **out,
                          td_error *error);
