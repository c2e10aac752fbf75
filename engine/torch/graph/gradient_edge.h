/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a tensor's gradient goes. Any thread that may use the tensor. */
#pragma once

#include "engine/torch/graph/node.h"

/* td_gradient_edge returns the edge to follow from a tensor: (grad_fn, output_nr), or
 * (AccumulateGrad, 0) for a leaf. It makes the AccumulateGrad if there is none. The edge's node is
 * NULL if the tensor requires no grad. New reference. */
td_edge td_gradient_edge(td_tensor *tensor);
