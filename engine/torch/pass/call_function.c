/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/call_function.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/events/core_waits.h"
#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/pending.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/pass/expose.h"
#include "engine/torch/pass/validate.h"

/* Whether this place, after what was found before, made something in the outputs. */
static void
look_at_outputs(td_evaluation *self, td_birthplace place, const char *hook) {
  if (!td_anomaly_is_on()) return;
  td_node *node = self->node;
  for (uint32_t i = 0; i < node->n_outputs; i++) {
    if (!self->outputs[i]) continue;
    unsigned before = hook ? self->found[i] : self->inputs_found | node->forward.found;
    self->found[i] = td_anomaly_look(self->outputs[i]);
    td_anomaly_note(before, self->found[i],
                    TD_BIRTH(.place = place, .node = node, .number = i, .hook = hook));
  }
}

/* What a hook made of the inputs: the buffer takes over what it put in their place. */
static void
take_inputs_cb(const td_hook *hook, void *data) {
  td_evaluation *self = data;
  self->inputs_found = 0;
  for (uint32_t i = 0; i < self->n_inputs; i++) {
    td_input_slot *slot = &self->buffer->slots[i];
    unsigned before = slot->found;
    slot->tensor = self->inputs[i];
    slot->found = slot->tensor ? td_anomaly_look(slot->tensor) : 0;
    td_anomaly_note(before, slot->found,
                    TD_BIRTH(.place = TD_birthplace_hook, .node = self->node, .number = i,
                             .hook = hook->owner ? hook->owner : ""));
    self->inputs_found |= slot->found;
  }
}

td_status
td_evaluation_call_hooks(td_evaluation *self, unsigned kinds, td_error *error) {
  if (TD_LIKELY(!td_node_has_hooks(self->node, kinds))) return TD_OK;
  td_hook_call call = {.node = self->node, .gradients = self->inputs, .n = self->n_inputs};
  return td_node_call_hooks(kinds, &call, take_inputs_cb, self, error);
}

static bool
has_any_hooks(const td_node *node) {
  return atomic_load_explicit(&((td_node *)node)->hooks, memory_order_relaxed) != NULL;
}

/* In PyTorch 2 each list is read when its turn comes; before, all are one, but a leaf's. */
static td_status
call_hooks_before(td_evaluation *self, td_error *error) {
  bool is_leaf = td_accumulate_grad_variable(self->node) != NULL;
  if (!td_policy(separate_hooks))
    return td_evaluation_call_hooks(self, is_leaf ? TD_HOOKS(pre) : TD_HOOKS_BEFORE, error);
  td_status status = td_evaluation_call_hooks(self, TD_HOOKS(tensor_pre), error);
  if (!status) status = td_evaluation_call_hooks(self, TD_HOOKS(retains_grad), error);
  return status ? status : td_evaluation_call_hooks(self, TD_HOOKS(pre), error);
}

/* PyTorch 1's AccumulateGrad calls its leaf's hooks itself, if it is going to store anything. */
static td_status
call_hooks_of_leaf(td_evaluation *self, td_error *error) {
  if (td_policy(separate_hooks)) return TD_OK;
  const td_tensor *leaf = td_accumulate_grad_variable(self->node);
  if (!leaf || !self->inputs[0] || !td_requires_grad(leaf)) return TD_OK;
  return td_evaluation_call_hooks(self, TD_HOOKS(tensor_pre), error);
}

/* Post hooks want the inputs after the function took what it could. */
static td_tensor **
keep_inputs(const td_evaluation *self) {
  td_tensor **kept = TD_NEW_N(td_tensor *, self->n_inputs + 1);
  for (uint32_t i = 0; i < self->n_inputs; i++)
    kept[i] = td_tensor_ref(self->inputs[i]);
  return kept;
}

static void
drop_inputs(const td_evaluation *self, td_tensor **kept) {
  for (uint32_t i = 0; i < self->n_inputs; i++)
    td_tensor_unref(kept[i]);
  free(kept);
}

static void
look_at_hooked_cb(const td_hook *hook, void *data) {
  look_at_outputs(data, TD_birthplace_hook, hook->owner ? hook->owner : "");
}

/* Hooks that came while the node ran see no inputs: nobody kept them. */
static td_status
call_post_hooks(td_evaluation *self, td_tensor *const *kept, td_error *error) {
  if (!kept && !td_policy(late_post_hooks)) return TD_OK;
  td_hook_call call = {.node = self->node,
                       .gradients = self->outputs,
                       .n = self->node->n_outputs,
                       .inputs = kept,
                       .n_inputs = kept ? self->n_inputs : 0};
  return td_node_call_hooks(TD_HOOKS(post), &call, look_at_hooked_cb, self, error);
}

static td_status
apply_and_validate(td_evaluation *self, td_error *error) {
  td_node *node = self->node;
  td_status status = call_hooks_of_leaf(self, error);
  if (status) return status;
  if (node->klass->will_release_variables && !self->graph_task->keep_graph)
    node->klass->will_release_variables(node);
  status = node->klass->apply(node, self->inputs, self->outputs, error);
  if (!status) status = td_pending_take(error);
  if (!status) status = td_creation_call(error);
  if (status) return status;
  return td_validate_outputs(node, node->next_edges, node->n_outputs, self->outputs,
                             node->n_outputs, error);
}

/* The node's function: node_begin to node_end. */
static td_status
run_function(td_evaluation *self, td_error *error) {
  td_node *node = self->node;
  uint64_t began = td_recording() ? td_clock_now() : 0;
  TD_EMIT_AT(began, node_begin, .node = td_node_id(node),
             .graph_task = self->graph_task->handle.id);
  TD_GATE_POLL(TD_EVENT_node_begin, td_node_id(node), self->graph_task->handle.id,
               td_node_name(node));
  td_status status = apply_and_validate(self, error);
  td_exposures_end_function();
  td_core_look_since(began);
  TD_EMIT(node_end, .node = td_node_id(node), .graph_task = self->graph_task->handle.id);
  return status;
}

td_status
td_evaluation_call_function(td_evaluation *self, td_error *error) {
  td_node *node = self->node;
  td_status status = TD_OK;
  if (TD_UNLIKELY(has_any_hooks(node))) status = call_hooks_before(self, error);
  if (status) return status;
  td_tensor **kept = td_node_has_hooks(node, TD_HOOKS(post)) ? keep_inputs(self) : NULL;
  status = run_function(self, error);
  if (!status) look_at_outputs(self, TD_birthplace_node, NULL);
  if (!status && TD_UNLIKELY(has_any_hooks(node))) status = call_post_hooks(self, kept, error);
  if (kept) drop_inputs(self, kept);
  TD_GATE_POLL(TD_EVENT_node_end, td_node_id(node), self->graph_task->handle.id,
               td_node_name(node));
  return status;
}
