/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/shape/copy_slices.h"

#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/as_strided.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"
#include "engine/torch/pass/exec_info.h"

typedef struct copy_slices {
  td_node node;
  td_node *fn; /* (owned reference), or NULL once released */
  td_geometry base, view;
  td_dtype view_dtype; /* the base's, or that of its parts or pairs */
} copy_slices;

/* The offset of the base's first element, in elements of the view. */
static int64_t
base_offset(const copy_slices *self, td_dtype dtype) {
  if (dtype == self->view_dtype) return self->base.offset;
  return td_dtype_is_complex(dtype) ? self->base.offset * 2 : self->base.offset / 2;
}

/* The base's gradient, laid out as the base, and the part of it that the view is. */
static td_status
slice_gradient(const copy_slices *self, td_tensor *grad, td_tensor **whole, td_tensor **part,
               td_error *error) {
  const td_geometry *view = &self->view;
  TD_TRY(td_geometry_empty(&self->base, grad->dtype, grad->device, whole, error));
  TD_TRY(td_op_copy_into(*whole, grad, error));
  TD_LOCAL(cast);
  TD_TRY(td_op_view_like(*whole, self->view_dtype, &cast, error));
  return td_op_as_strided(cast, view->sizes.n_dims, view->sizes.at, view->strides,
                          view->offset - base_offset(self, grad->dtype), part, error);
}

/* fn may save its gradient for a derivative of its own, and the part is written into: a copy. */
static td_status
apply_fn(copy_slices *self, td_tensor *part, td_tensor **outputs, td_error *error) {
  TD_LOCAL(copy);
  TD_TRY(td_op_clone(part, &copy, error));
  td_stand_in before = td_needs_gradient_as((td_stand_in){self->fn, &self->node});
  td_status status = self->fn->klass->apply(self->fn, &copy, outputs, error);
  td_needs_gradient_as(before);
  return status;
}

static td_status
apply_to_slice(copy_slices *self, td_tensor *grad, td_tensor **outputs, td_error *error) {
  TD_LOCAL(whole);
  TD_LOCAL(part);
  TD_LOCAL(inner);
  TD_TRY(slice_gradient(self, grad, &whole, &part, error));
  TD_TRY(apply_fn(self, part, outputs, error));
  inner = TD_TAKE(outputs[0]);
  if (!inner || !td_needs_gradient(&self->node, 0)) return TD_OK;
  TD_TRY(td_op_copy_into(part, inner, error));
  outputs[0] = TD_TAKE(whole);
  return TD_OK;
}

/* Under the node's mutex: another pass may release fn, or be running it. */
static td_status
copy_slices_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  copy_slices *self = (copy_slices *)node;
  if (!inputs[0]) return TD_OK;
  td_node_lock(node);
  td_status status = self->fn ? apply_to_slice(self, inputs[0], outputs, error)
                              : td_saved_variable_refuse_released(error);
  td_node_unlock(node);
  if (status) td_op_drop(outputs, node->n_outputs);
  return status;
}

static void
copy_slices_release(td_node *node) {
  copy_slices *self = (copy_slices *)node;
  td_node *fn = self->fn;
  self->fn = NULL;
  td_node_unref(fn);
}

static const td_node_class copy_slices_class = {
    .name = "CopySlices", .apply = copy_slices_apply, .release_variables = copy_slices_release};

td_node *
td_copy_slices_node(td_tensor *base, const td_tensor *view, td_node *fn) {
  copy_slices *self = (copy_slices *)td_node_new_raw(&copy_slices_class, sizeof *self,
                                                     fn->n_outputs, td_sequence_nr_next());
  td_edge edge = td_gradient_edge(base);
  td_node_set_edge(&self->node, 0, edge);
  for (uint32_t i = 1; i < fn->n_outputs; i++)
    td_node_set_edge(&self->node, i,
                     (td_edge){td_node_ref(fn->next_edges[i].node), fn->next_edges[i].input_nr});
  self->fn = td_node_ref(fn);
  self->base = td_geometry_of(base);
  self->view = td_geometry_of(view);
  self->view_dtype = view->dtype;
  return &self->node;
}
