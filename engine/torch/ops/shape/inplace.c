/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/shape/inplace.h"

#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/pending.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"
#include "engine/torch/graph/weak_node.h"
#include "engine/torch/ops/shape/shape.h"

#include <assert.h>

static bool
is_tracked(td_tensor *const *operands, uint32_t n_operands) {
  if (!td_grad_mode() || td_inference_mode()) return false;
  for (uint32_t i = 0; i < n_operands; i++)
    if (operands[i] && td_requires_grad(operands[i])) return true;
  return false;
}

/* Errors name the node of a view, not the one that wrote it. */
static void
note_view(td_saved_variable *saved, const td_tensor *self) {
  td_node *made = self->base ? td_grad_fn_stored(self) : NULL;
  if (made) saved->on_view = td_weak_node_of(&made->weak, made, &made->refs);
}

/* A result is saved as self, which it is from now on. A write that had self for another operand too
 * saved what is no more: it must not keep self, whose node it is, alive. */
static void
save_again(td_saved_variable *saved, td_tensor *self) {
  if (!saved->data || saved->is_packed) return;
  if (saved->is_output) {
    td_saved_variable_release(saved);
    td_saved_variable_init(saved, self, true);
    note_view(saved, self);
  } else if (saved->data == self) {
    td_saved_variable_written(saved);
    note_view(saved, self);
  }
}

static void
save_all_again(td_node *node, const td_node *maker, td_tensor *self) {
  if (node->klass->apply != td_op_apply) return;
  td_op_node *op = (td_op_node *)node;
  for (int i = 0; i < TD_OP_MAX_SAVED; i++)
    save_again(&op->saved[i], self);
  if (td_recording()) td_op_announce_saved(op, maker);
}

/* Takes the node (NULL: no history). */
static td_status
set_history(td_tensor *self, const char *name, td_node *node, td_error *error) {
  uint32_t version = td_tensor_count_up(self, name);
  td_status status = node ? td_rebase_history(self, node, 0, error) : TD_OK;
  td_node *maker = node && self->base ? td_grad_fn(self->base) : node;
  td_tensor_announce_write(self, version, name, maker);
  if (!status && node) save_all_again(node, maker, self);
  td_node_unref(node);
  return status;
}

td_status
td_write_begin(td_write *write, const td_op_class *klass, size_t size, const char *name,
               td_tensor *const *operands, uint32_t n_operands, td_error *error) {
  td_tensor *self = operands[0];
  bool tracked = is_tracked(operands, n_operands) && td_dtype_is_differentiable(self->dtype);
  *write = (td_write){.self = self, .name = name};
  TD_TRY(td_check_in_place(self, tracked, error));
  if (tracked) write->node = td_op_begin(klass, size, operands, n_operands);
  return TD_OK;
}

td_status
td_write_check(td_write *write, td_status status) {
  if (status) td_node_unref(write->node);
  return status;
}

td_status
td_write_end(td_write *write, td_error *error) {
  if (write->node) td_node_add_metadata(write->node, write->self);
  return set_history(write->self, write->name, write->node, error);
}

td_status
td_in_place_begin(td_in_place *now, const char *name, td_tensor *const *operands,
                  uint32_t n_operands, td_error *error) {
  td_tensor *self = operands[0];
  bool tracked = is_tracked(operands, n_operands);
  TD_TRY(td_check_in_place(self, tracked, error));
  *now = (td_in_place){.self = self,
                       .alias = td_tensor_detach(self),
                       .name = name,
                       .overlap = td_worst_overlap(self, operands + 1, n_operands - 1),
                       .allowed = TD_OVERLAP_FULL};
  td_node_hold_announcements(true);
  bool was_stale = self->base && !td_view_is_fresh(self);
  td_node *grad_fn = tracked ? td_grad_fn(self) : NULL;
  if (was_stale && td_view_is_fresh(self)) now->remade = td_node_ref(grad_fn);
  if (grad_fn) td_set_grad_fn(now->alias, grad_fn, td_output_nr(self));
  return TD_OK;
}

static td_status
refuse_sizes(const td_tensor *self, const td_tensor *result, td_error *error) {
  char *from = td_tensor_shape_text(self), *to = td_tensor_shape_text(result);
  td_error_set(error, TD_SHAPE, "output with shape %s doesn't match the broadcast shape %s", from,
               to);
  free(from);
  free(to);
  return TD_SHAPE;
}

static td_status
check_result(const td_tensor *self, const td_tensor *result, td_error *error) {
  if (!td_tensor_same_sizes(self, result)) return refuse_sizes(self, result, error);
  if (td_op_can_cast(result->dtype, self->dtype)) return TD_OK;
  return td_error_set(error, TD_DTYPE, "result type %s can't be cast to the desired output type %s",
                      td_op_scalar_type(result->dtype), td_op_scalar_type(self->dtype));
}

/* Whoever else holds the alias goes on seeing what was there before: a clone, whose node is the
 * alias's history from now on. */
static td_status
keep_elements(td_tensor *alias, td_error *error) {
  if (td_refcount_get(&alias->refs) == 1) return TD_OK;
  TD_LOCAL(copy);
  TD_TRY(td_op_clone(alias, &copy, error));
  td_tensor_set_data(alias, copy);
  if (td_grad_fn_stored(copy)) td_set_grad_fn(alias, td_grad_fn_stored(copy), 0);
  return TD_OK;
}

static td_status
take_result(td_in_place *now, td_tensor *result, td_error *error) {
  td_tensor *self = now->self;
  assert(result); /* the operation went well */
  TD_TRY(check_result(self, result, error));
  td_kernel_copy(self, result);
  td_node *node = td_node_ref(td_grad_fn(result));
  if (node) node->input_metadata[0].dtype = self->dtype;
  return set_history(self, now->name, node, error);
}

/* The same class by the name that PyTorch has for it in place. Equal calls write the same. */
static void
rename_node(td_node *node, td_op_class *copy, const char *name) {
  *copy = *(const td_op_class *)node->klass;
  copy->base.name = name;
  node->klass = &copy->base;
}

/* PyTorch makes the operation's node first, and then the one of a view that another write had
 * changed. */
static void
swap_numbers(td_node *remade, td_node *made) {
  if (!made || made->sequence_nr != remade->sequence_nr + 1) return;
  td_node_set_sequence_nr(made, remade->sequence_nr);
  td_node_set_sequence_nr(remade, made->sequence_nr + 1);
}

static void
end_operation(td_in_place *now, const td_tensor *result) {
  td_node_hold_announcements(false);
  if (!now->remade) return;
  swap_numbers(now->remade, result ? td_grad_fn_stored(result) : NULL);
  td_node_announce(now->remade);
  td_node_unref(now->remade);
}

td_status
td_in_place_view_end(td_in_place *now, td_status status, td_tensor *view, td_op_class *klass,
                     const char *node_name, td_error *error) {
  td_tensor *self = now->self;
  end_operation(now, view);
  assert(status || view);
  if (!status && self->base && td_grad_fn(view))
    status = td_error_set(error, TD_UNSUPPORTED, "%s() of a view that has a history", now->name);
  if (!status) {
    if (td_grad_fn(view)) rename_node(td_grad_fn(view), klass, node_name);
    self->n_dims = view->n_dims;
    self->offset = view->offset;
    memcpy(self->sizes, view->sizes, sizeof self->sizes);
    memcpy(self->strides, view->strides, sizeof self->strides);
    status = set_history(self, now->name, td_node_ref(td_grad_fn(view)), error);
  }
  td_tensor_unref(view);
  td_tensor_unref(now->alias);
  return status;
}

td_status
td_in_place_end(td_in_place *now, td_status status, td_tensor *result, td_error *error) {
  end_operation(now, result);
  if (!status) status = keep_elements(now->alias, error);
  td_status overlap = td_check_overlap(now->self, error);
  if (!overlap) overlap = td_check_operands(now->overlap, now->allowed, error);
  if (overlap) status = overlap;
  if (!status) status = td_pending_take(error); /* what cannot be saved is not written */
  if (!status) status = take_result(now, result, error);
  td_tensor_unref(result);
  td_tensor_unref(now->alias);
  return status;
}
