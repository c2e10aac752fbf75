/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/inplace.h"

#include "engine/graph/grad_fn.h"
#include "engine/graph/in_place.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"

static bool
is_tracked(td_tensor *const *operands, uint32_t n_operands) {
  if (!td_grad_mode() || td_inference_mode()) return false;
  for (uint32_t i = 0; i < n_operands; i++)
    if (operands[i] && td_requires_grad(operands[i])) return true;
  return false;
}

/* A result is saved as self, which it is from now on. A write that had self for another operand too
 * saved what is no more: it must not keep self, whose node it is, alive. */
static void
save_again(td_saved_variable *saved, td_tensor *self) {
  if (!saved->data || saved->is_packed) return;
  if (saved->is_output) {
    td_saved_variable_release(saved);
    td_saved_variable_init(saved, self, true);
    saved->is_on_view = self->base != NULL;
  } else if (saved->data == self) {
    saved->data = td_tensor_detach(self);
    saved->is_original = false;
    saved->is_output = true;
    td_tensor_unref(self);
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
  *now = (td_in_place){.self = self, .alias = td_tensor_detach(self), .name = name};
  td_node *grad_fn = tracked ? td_grad_fn(self) : NULL;
  if (grad_fn) td_set_grad_fn(now->alias, grad_fn, td_output_nr(self));
  td_node_hold_announcements(true);
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
  if (!td_op_can_cast(result->dtype, self->dtype))
    return td_error_set(error, TD_DTYPE,
                        "result type %s can't be cast to the desired output type %s",
                        td_op_scalar_type(result->dtype), td_op_scalar_type(self->dtype));
  return td_tensor_same_sizes(self, result) ? TD_OK : refuse_sizes(self, result, error);
}

/* Whoever else holds the alias goes on seeing what was there before. PyTorch clones it, which takes
 * a sequence number for a node that nothing leads to. */
static td_status
keep_elements(td_tensor *alias, td_error *error) {
  if (td_refcount_get(&alias->refs) == 1) return TD_OK;
  if (td_grad_mode() && td_requires_grad(alias)) td_sequence_nr_next();
  TD_LOCAL(copy);
  TD_TRY(
      td_tensor_new_empty(alias->dtype, alias->device, alias->n_dims, alias->sizes, &copy, error));
  td_kernel_copy(copy, alias);
  td_tensor_set_data(alias, copy);
  return TD_OK;
}

static td_status
take_result(td_in_place *now, td_tensor *result, td_error *error) {
  td_tensor *self = now->self;
  TD_TRY(check_result(self, result, error));
  TD_TRY(keep_elements(now->alias, error));
  td_kernel_copy(self, result);
  td_node *node = td_node_ref(td_grad_fn(result));
  if (node) node->input_metadata[0].dtype = self->dtype;
  return set_history(self, now->name, node, error);
}

td_status
td_in_place_end(td_in_place *now, td_status status, td_tensor *result, td_error *error) {
  td_node_hold_announcements(false);
  if (!status) status = take_result(now, result, error);
  td_tensor_unref(result);
  td_tensor_unref(now->alias);
  return status;
}
