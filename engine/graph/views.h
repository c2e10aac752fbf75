/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Differentiable views: a tensor that was taken of another one (its base, which is no view itself)
 * shares elements and version counter with it, and its history follows what is written into either.
 * A write through the view makes the base the output of a CopySlices; each view whose counter has
 * moved on since gets a new grad_fn, AsStridedBackward0 of the base, when somebody next asks for
 * it. That is under one lock of all views; the path of a view that nobody wrote into is one
 * comparison.
 *
 * The fields lie in td_tensor (base, base_version, creation): most views never need more. */
#pragma once

#include "engine/graph/node.h"

/* How a view was made, which decides whether it may be written into. */
typedef enum td_creation {
  TD_CREATION_DEFAULT,
  TD_CREATION_MULTI_OUTPUT,    /* by a node with several views as outputs */
  TD_CREATION_NO_GRAD,         /* with grad mode off */
  TD_CREATION_INFERENCE,       /* in inference mode, of an ordinary tensor */
  TD_CREATION_CUSTOM_FUNCTION, /* in a custom function's forward, or an input that it returned */
} td_creation;

/* td_view_init makes a new tensor that shares `of`'s storage a view of it (of its base), made in
 * the way of the thread's modes if `creation` is the default. Not within a backward pass without
 * create_graph, where nobody could tell, nor of inference tensors. Before its grad_fn is set. */
void td_view_init(td_tensor *view, td_tensor *of, td_creation creation);

/* td_view_set_creation is for custom functions, after the view was made. */
void td_view_set_creation(td_tensor *view, td_creation creation);

/* td_view_is_fresh tells whether a view's grad_fn is of the present version. */
bool td_view_is_fresh(const td_tensor *view);

/* td_view_refresh makes the grad_fn anew of a view that is not fresh. TD_AUTOGRAD, PyTorch's text,
 * where the view was made in a way that forbids it; the grad_fn stays then. */
td_status td_view_refresh(td_tensor *view, td_error *error);

/* td_check_in_place tells whether a tensor may be written into: `tracked` says whether the write
 * would leave history (grad mode on, and an operand requires grad). TD_AUTOGRAD with PyTorch's
 * texts for leaves, views of leaves, views of several outputs and the like; for inference tensors
 * outside inference mode; for memory that several elements share. */
td_status td_check_in_place(const td_tensor *self, bool tracked, td_error *error);

/* td_rebase_history makes a tensor that was just written into (and bumped) output `input_nr` of
 * `node` (borrowed), whose metadata of it is there: itself, or through CopySlices its base.
 * TD_AUTOGRAD for a view where the node has several inputs. Returns what it did only to the graph:
 * the caller announces the node if *announce. */
td_status td_rebase_history(td_tensor *self, td_node *node, uint32_t input_nr, td_error *error);

/* td_detach_in_place takes a tensor's history away; TD_AUTOGRAD for views. */
td_status td_detach_in_place(td_tensor *self, td_error *error);
