/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Variable: the autograd side of a tensor: requires_grad, grad, grad_fn, and its AccumulateGrad.
 * Set up by the thread that made the tensor; `grad` is written by AccumulateGrad under its node's
 * mutex. */
#pragma once

#include "engine/graph/node.h"

/* td_requires_grad: it is a leaf that wants a gradient, or the output of a node, or a view of such
 * a tensor. */
bool td_requires_grad(const td_tensor *tensor);
bool td_is_leaf(const td_tensor *tensor);

/* td_set_requires_grad. TD_DTYPE "only Tensors of floating point dtype can require gradients";
 * TD_INVALID on switching off a non-leaf: PyTorch's texts. */
td_status td_set_requires_grad(td_tensor *tensor, bool requires_grad, td_error *error);

/* td_grad_fn returns the node that made the tensor, and its output number, or NULL for a leaf.
 * Borrowed. A view's is made anew where its base was written into; where that cannot be, the error
 * is left pending (pending.h). */
td_node *td_grad_fn(const td_tensor *tensor);
/* td_grad_fn_stored is td_grad_fn without a look at whether a view's is of the present version. */
td_node *td_grad_fn_stored(const td_tensor *tensor);
uint32_t td_output_nr(const td_tensor *tensor);
void td_set_grad_fn(td_tensor *tensor, td_node *node,
                    uint32_t output_nr); /* takes a new reference */

/* td_variable_set_data gives a tensor the elements of another one (which both share then), and
 * keeps its history and version; a leaf whose dtype or device changes gets a new AccumulateGrad.
 * TD_DTYPE where it requires grad and data could not. */
td_status td_variable_set_data(td_tensor *tensor, const td_tensor *data, td_error *error);

/* td_grad_get returns a new reference to .grad, or NULL; td_grad_set replaces it (NULL: none). Safe
 * against a backward pass that accumulates at the same time. */
td_tensor *td_grad_get(td_tensor *tensor);
void td_grad_set(td_tensor *tensor, td_tensor *grad);

/* td_gradient_edge returns the edge to follow from a tensor: (grad_fn, output_nr) or
 * (AccumulateGrad, 0), which is made where there is none; node NULL where no grad is required. New
 * reference. */
td_edge td_gradient_edge(td_tensor *tensor);

/* td_grad_accumulator_find returns a new reference to the leaf's AccumulateGrad if it has one, else
 * NULL. */
td_node *td_grad_accumulator_find(td_tensor *tensor);

/* td_tensor_set_name remembers a leaf's name ("conv1.weight"): its AccumulateGrad is labelled with
 * it. */
void td_tensor_set_name(td_tensor *tensor, const char *name);

/* Grad mode of the calling thread; initially on. */
bool td_grad_mode(void);
void td_grad_mode_set(bool enabled);
