/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Variable: the autograd side of a tensor: requires_grad, grad, grad_fn, and its AccumulateGrad.
 * Set up by the thread that made the tensor; `grad` is written by AccumulateGrad under its node's
 * mutex. */
#pragma once

#include "engine/torch/graph/node.h"

/* td_requires_grad: it is a leaf that wants a gradient, or the output of a node, or a view of such
 * a tensor. */
bool td_requires_grad(const td_tensor *tensor);

/* td_grad_fn_stored returns the node that made the tensor, as last noted: grad_fn.h has the one of
 * the present version. td_output_nr is which of the node's forward outputs it is. Borrowed. */
td_node *td_grad_fn_stored(const td_tensor *tensor);
uint32_t td_output_nr(const td_tensor *tensor);
void td_set_grad_fn(td_tensor *tensor, td_node *node,
                    uint32_t output_nr); /* takes a new reference */

/* td_variable_set_data gives a tensor the elements of another one, which both share then. The
 * tensor keeps its history and version. A leaf whose dtype or device changes gets a new
 * AccumulateGrad. TD_DTYPE if the tensor requires grad and data cannot; TD_INVALID if only one of
 * them is sparse. */
td_status td_variable_set_data(td_tensor *tensor, const td_tensor *data, td_error *error);

/* td_variable_reset_accumulator: graphs of before know the leaf no more. */
void td_variable_reset_accumulator(td_tensor *tensor);

/* td_grad_get returns a new reference to .grad, or NULL; td_grad_set replaces it (NULL: none). Safe
 * against a backward pass that accumulates at the same time. */
td_tensor *td_grad_get(td_tensor *tensor);
void td_grad_set(td_tensor *tensor, td_tensor *grad);

/* td_grad_accumulator_find returns a new reference to the leaf's AccumulateGrad if it has one, else
 * NULL. */
td_node *td_grad_accumulator_find(td_tensor *tensor);

/* td_tensor_set_name remembers a leaf's name ("conv1.weight"): its AccumulateGrad is labelled with
 * it. */
void td_tensor_set_name(td_tensor *tensor, const char *name);

/* td_tensor_dup_name returns that name, or NULL. The caller frees. */
char *td_tensor_dup_name(td_tensor *tensor);

/* Grad mode of the calling thread; initially on. */
bool td_grad_mode(void);
void td_grad_mode_set(bool enabled);

/* For engine/torch/graph alone. td_forget_history makes a tensor a leaf that requires no grad.
 * td_variable_set_accumulator makes a new tensor a stand-in for a leaf: its gradients go to the
 * leaf's AccumulateGrad, to which it takes a reference. td_variable_forget_accumulator is what a
 * dying AccumulateGrad calls. */
void td_forget_history(td_tensor *tensor);
void td_variable_set_accumulator(td_tensor *tensor, td_node *accumulator);
void td_variable_forget_accumulator(td_tensor *leaf, td_node *node);
