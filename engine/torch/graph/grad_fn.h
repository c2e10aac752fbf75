/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which node made a tensor. The answer is brought up to date first: a view whose base was written
 * into gets a new grad_fn (views.h). The thread that made the tensor, or one at a time. */
#pragma once

#include "engine/torch/graph/node.h"

/* td_grad_fn returns the node that made the tensor, or NULL for a leaf. Borrowed. If the grad_fn of
 * a view cannot be made anew, the error is left pending (pending.h). */
td_node *td_grad_fn(const td_tensor *tensor);
bool td_is_leaf(const td_tensor *tensor);

/* td_set_requires_grad. TD_DTYPE "only Tensors of floating point dtype can require gradients";
 * TD_INVALID on switching off a non-leaf: PyTorch's texts. */
td_status td_set_requires_grad(td_tensor *tensor, bool requires_grad, td_error *error);
