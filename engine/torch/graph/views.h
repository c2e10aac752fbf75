/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Differentiable views. A view shares elements and version counter with its base, which is no view
 * itself. A write into either changes what both are, so the view's history must follow. A write
 * through the view makes the base the output of a CopySlices. A view whose counter has moved on
 * since gets a new grad_fn, AsStridedBackward0 of the base, when somebody next needs it. One lock
 * guards that for all views; for a view that nobody wrote into it costs one comparison.
 *
 * The fields lie in td_tensor (base, base_version, creation): most views never need more. */
#pragma once

#include "engine/torch/graph/node.h"

/* How a view was made, which decides whether it may be written into. */
typedef enum td_creation {
  TD_CREATION_DEFAULT,
  TD_CREATION_MULTI_OUTPUT,    /* by a node with several views as outputs */
  TD_CREATION_NO_GRAD,         /* with grad mode off */
  TD_CREATION_INFERENCE,       /* in inference mode, of an ordinary tensor */
  TD_CREATION_CUSTOM_FUNCTION, /* in a custom function's forward, or an input that it returned */
} td_creation;

/* td_view_init makes a new tensor, which shares the storage of `of`, a view of the base of `of`. If
 * `creation` is the default, the thread's modes decide it. Does nothing within a backward pass
 * without create_graph, and for inference tensors. Call it before the grad_fn is set. */
void td_view_init(td_tensor *view, td_tensor *of, td_creation creation);

/* td_view_set_creation is for custom functions, after the view was made. */
void td_view_set_creation(td_tensor *view, td_creation creation);

/* td_view_forget makes a new tensor no view: what it is a view of was only a step towards it. */
void td_view_forget(td_tensor *view);

/* td_view_is_fresh tells whether a view's grad_fn is of the present version. */
bool td_view_is_fresh(const td_tensor *view);

/* td_view_refresh makes the grad_fn anew of a view that is not fresh. TD_AUTOGRAD, PyTorch's text,
 * if the view was made in a way that forbids it; the grad_fn then stays. */
td_status td_view_refresh(td_tensor *view, td_error *error);

/* td_view_refuse is the error of a write into a view that was made in a way that forbids it:
 * TD_AUTOGRAD with PyTorch's text. `modified` is the part of the sentence that says what was
 * written into: "is being", "its base or another view of its base has been". */
td_status td_view_refuse(const td_tensor *view, const char *modified, td_error *error);
