/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Results that are some elements of lines along a dimension, with their places. Private to
 * engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/calc.h"

/* td_picked_calc is the formula of their classes: the gradient goes to where they came from. */
td_tensor *td_picked_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which);

/* td_picked_sum_calc is the same for elements that may be picked more than once. */
td_tensor *td_picked_sum_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which);

/* td_picked_end takes the elements of self at `found`, which has as many dimensions, and gives them
 * a node. Without keepdim the results lose dimension `at`. */
td_status td_picked_end(const td_op_class *klass, td_tensor *self, int at, bool keepdim,
                        td_tensor *found, td_tensor **values, td_tensor **indices, td_error *error);
