/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * AccumulateGrad: the node at every leaf; it stores the gradient in variable.grad. Its sequence
 * number is the greatest, so a leaf's gradient is stored as soon as it is complete. It holds its
 * variable; the variable knows it weakly. */
#pragma once

#include "engine/torch/graph/node.h"

/* td_accumulate_grad_new makes the node for a leaf. The caller guards the leaf's weak reference. */
td_node *td_accumulate_grad_new(td_tensor *variable);

/* td_accumulate_grad_variable borrows a node's leaf; NULL for other nodes. */
td_tensor *td_accumulate_grad_variable(const td_node *node);
