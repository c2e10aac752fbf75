/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/views.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"

#include <string.h>

static pthread_mutex_t views_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards making grad_fns anew */

static td_creation
creation_now(void) {
  if (td_inference_mode()) return TD_CREATION_INFERENCE;
  return td_grad_mode() ? TD_CREATION_DEFAULT : TD_CREATION_NO_GRAD;
}

void
td_view_init(td_tensor *view, td_tensor *of, td_creation creation) {
  if (of->is_inference || (!td_grad_mode() && td_graph_task_now())) return;
  td_creation now = creation_now();
  if (now != TD_CREATION_DEFAULT) creation = now;
  if (creation == TD_CREATION_DEFAULT && of->base) creation = (td_creation)of->creation;
  view->base = td_tensor_ref(of->base ? of->base : of);
  view->creation = (uint8_t)creation;
  atomic_init(&view->base_version, td_tensor_version(view));
}

void
td_view_set_creation(td_tensor *view, td_creation creation) {
  view->creation = (uint8_t)creation;
}

void
td_view_forget(td_tensor *view) {
  td_tensor *base = view->base;
  view->base = NULL;
  view->creation = TD_CREATION_DEFAULT;
  td_tensor_unref(base);
}

bool
td_view_is_fresh(const td_tensor *view) {
  return atomic_load_explicit(&view->base_version, memory_order_acquire) == td_tensor_version(view);
}

/* What the two blocks are called that the text advises to move both statements into. */
static const char *
block_name(td_creation creation) {
  return creation == TD_CREATION_INFERENCE ? "inference_mode" : "no_grad";
}

static char *
reason_text(td_creation creation) {
  switch (creation) {
  case TD_CREATION_MULTI_OUTPUT:
    return td_dup_string(
        "This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        "by an out-of-place one.");
  case TD_CREATION_CUSTOM_FUNCTION:
    return td_dup_string(
        "This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function.");
  default:
    return td_format(
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the %s block (if you "
        "don't want the inplace to be tracked) or both outside (if you want the inplace to be "
        "tracked).",
        block_name(creation));
  }
}

/* "A view was created in no_grad mode and is being modified inplace with grad mode enabled." */
static char *
what_text(const td_tensor *view, const char *modified) {
  td_creation creation = (td_creation)view->creation;
  const td_node *node = td_grad_fn_stored(view);
  bool by_mode = creation == TD_CREATION_INFERENCE || creation == TD_CREATION_NO_GRAD || !node;
  char *name = node ? td_node_operation_name(node) : NULL, *text;
  if (!by_mode)
    text = td_format("Output %u of %s is a view and %s modified inplace.", td_output_nr(view), name,
                     modified);
  else {
    char *made = node ? td_format("Output %u of %s is a view of a view which was created in",
                                  td_output_nr(view), name)
                      : td_dup_string("A view was created in");
    text = td_format(creation == TD_CREATION_INFERENCE
                         ? "%s inference mode and %s modified inplace in normal mode."
                         : "%s no_grad mode and %s modified inplace with grad mode enabled.",
                     made, modified);
    free(made);
  }
  free(name);
  return text;
}

td_status
td_view_refuse(const td_tensor *view, const char *modified, td_error *error) {
  char *what = what_text(view, modified), *reason = reason_text((td_creation)view->creation);
  td_error_set(error, TD_AUTOGRAD, "%s %s", what, reason);
  free(what);
  free(reason);
  return TD_AUTOGRAD;
}

/* The old grad_fn goes to *old: who frees a graph may have to wait for the embedding language. */
static td_status
refresh_locked(td_tensor *view, td_node **old, td_error *error) {
  if (td_view_is_fresh(view)) return TD_OK;
  if (!td_grad_fn_stored(view) && !td_requires_grad(view->base)) return TD_OK;
  if (view->creation != TD_CREATION_DEFAULT)
    return td_view_refuse(view, "its base or another view of its base has been", error);
  td_node *node = td_differentiable_get()->as_strided(view->base, view);
  td_node_add_metadata(node, view);
  *old = td_node_ref(td_grad_fn_stored(view));
  td_set_grad_fn(view, node, 0);
  td_node_announce(node);
  td_creation_note(node);
  td_node_unref(node);
  return TD_OK;
}

td_status
td_view_refresh(td_tensor *view, td_error *error) {
  td_node *old = NULL;
  pthread_mutex_lock(&views_mutex);
  td_status status = refresh_locked(view, &old, error);
  pthread_mutex_unlock(&views_mutex);
  td_node_unref(old);
  return status;
}
