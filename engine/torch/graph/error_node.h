/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes that let nothing through: they fail when a pass needs them, or give undefined gradients.
 * Any thread. */
#pragma once

#include "engine/torch/graph/function.h"

/* td_error_node_wrap writes to outputs[i] an alias (new reference) of inputs[i], or NULL for NULL.
 * If grad mode is on and any input requires grad, a node stands between them that fails with
 * `status` and `text`. This is PyTorch's DelayedError, whose node is named Error. */
void td_error_node_wrap(td_status status, const char *text, td_tensor *const *inputs, uint32_t n,
                        td_tensor **outputs);

/* td_error_node_set gives a result, computed from `inputs`, such a node named `name`, if it needs
 * one. The node has edges only to inputs that require grad. PyTorch has "NotImplemented" for
 * operations without a derivative. */
void td_error_node_set(const char *name, td_status status, const char *text, td_tensor *result,
                       td_tensor *const *inputs, uint32_t n_inputs);

/* td_undefined_grad_wrap is td_error_node_wrap with a node (UndefinedGradBackward) whose gradients
 * are undefined. */
void td_undefined_grad_wrap(td_tensor *const *inputs, uint32_t n, td_tensor **outputs);
