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

/* td_view_refuse is the error of a write into a view that was made in a way that forbids it:
 * TD_AUTOGRAD with PyTorch's text. `modified` is the part of the sentence that says what was
 * written into: "is being", "its base or another view of its base has been". */
td_status td_view_refuse(const td_tensor *view, const char *modified, td_error *error);
