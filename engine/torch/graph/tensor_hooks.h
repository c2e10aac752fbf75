/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks of tensors: called with the gradient of a tensor when it is complete. A leaf's hooks live
 * with the leaf. Hooks of another tensor live with the node that is its grad_fn when they are
 * added. They stay with that node if an operation in place gives the tensor another one. Any
 * thread. */
#pragma once

#include "engine/torch/graph/hooks.h"

/* td_tensor_add_hook: TD_INVALID "cannot register a hook on a tensor that doesn't require
 * gradient". The lists hold a reference to the hook. */
td_status td_tensor_add_hook(td_tensor *tensor, td_hook *hook, td_error *error);

/* td_tensor_add_post_accumulate_grad_hook: the hook is called each time that .grad of the leaf has
 * been written. TD_INVALID, with PyTorch's texts, for a tensor without requires_grad and for one
 * that is no leaf. */
td_status td_tensor_add_post_accumulate_grad_hook(td_tensor *leaf, td_hook *hook, td_error *error);

/* td_retain_grad asks for .grad on a tensor that is no leaf: a hook adds each gradient to it, after
 * all hooks of the tensor. Nothing happens on a leaf, and the second time. The hook knows the
 * tensor weakly. TD_INVALID "can't retain_grad on Tensor that has requires_grad=False". */
td_status td_retain_grad(td_tensor *tensor, td_error *error);
bool td_retains_grad(const td_tensor *tensor);

/* td_tensor_leaf_hooks borrows a leaf's own lists, or NULL. */
td_hooks *td_tensor_leaf_hooks(const td_tensor *leaf);
