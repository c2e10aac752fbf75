/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/evaluate.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/pass/call_function.h"
#include "engine/torch/pass/expose.h"
#include "engine/torch/pass/node_guard.h"
#include "engine/torch/pass/scatter.h"
#include "engine/torch/pass/statistics.h"

static void
evaluation_init(td_evaluation *self, td_graph_task *graph_task, td_node_task *task) {
  self->graph_task = graph_task;
  self->node = task->node;
  self->buffer = task->buffer;
  self->n_inputs = task->buffer ? task->buffer->n_slots : 0;
  self->inputs_found = 0;
  uint32_t n_outputs = task->node->n_outputs;
  bool few = self->n_inputs <= TD_FEW && n_outputs <= TD_FEW;
  self->inputs = few ? self->few_inputs : TD_NEW_N(td_tensor *, self->n_inputs);
  self->outputs = few ? self->few_outputs : TD_NEW_N(td_tensor *, n_outputs);
  self->found = few ? self->few_found : TD_NEW_N(unsigned, n_outputs);
  for (uint32_t i = 0; i < self->n_inputs; i++) {
    self->inputs[i] = task->buffer->slots[i].tensor;
    self->inputs_found |= task->buffer->slots[i].found;
  }
  for (uint32_t i = 0; i < n_outputs; i++) {
    self->outputs[i] = NULL;
    self->found[i] = 0;
  }
}

static void
evaluation_fini(td_evaluation *self) {
  for (uint32_t i = 0; i < self->node->n_outputs; i++)
    td_tensor_unref(self->outputs[i]);
  if (self->outputs == self->few_outputs) return;
  free(self->inputs);
  free(self->outputs);
  free(self->found);
}

static void
measure_outputs(const td_evaluation *self) {
  for (uint32_t i = 0; i < self->node->n_outputs; i++)
    td_statistics_emit(TD_stats_place_output, self->node, i, self->outputs[i]);
}

/* What comes to a leaf, before it goes into .grad. */
static void
measure_at_leaf(const td_evaluation *self) {
  if (self->node->sequence_nr != TD_SEQUENCE_NR_MAX) return;
  for (uint32_t i = 0; i < self->n_inputs; i++)
    td_statistics_emit(TD_stats_place_leaf, self->node, i, self->inputs[i]);
}

static void
measure_captured(const td_evaluation *self, const td_node_entry *entry) {
  for (const td_capture *capture = entry->captures; capture; capture = capture->next)
    td_statistics_emit(TD_stats_place_input, self->node, capture->input_nr,
                       self->inputs[capture->input_nr]);
}

static td_status
raise_anomalies(const td_evaluation *self, td_error *error) {
  td_status status = TD_OK;
  if (!td_anomaly_is_on()) return TD_OK;
  for (uint32_t i = 0; i < self->node->n_outputs && !status; i++)
    status = td_anomaly_raise(self->node, i, self->found[i], error);
  return status;
}

static void
take_captured(td_evaluation *self, const td_node_entry *entry) {
  td_graph_task *graph_task = self->graph_task;
  td_lock_acquire(&graph_task->lock);
  uint64_t stamp = td_lock_stamp(&graph_task->lock);
  for (const td_capture *capture = entry->captures; capture; capture = capture->next) {
    td_tensor **place = &graph_task->captured[capture->output_nr];
    td_tensor_unref(*place);
    *place = td_tensor_ref(self->inputs[capture->input_nr]);
    TD_EMIT_AT(stamp, capture, .node = td_node_id(self->node), .graph_task = graph_task->handle.id,
               .input_nr = capture->input_nr, .output_nr = capture->output_nr);
  }
  td_lock_release(&graph_task->lock);
}

/* In PyTorch 2 a captured gradient has been through the tensor's hooks: they run now if the node
 * does not, and if it does, later, and the gradient is captured before them. */
static td_status
capture_gradients(td_evaluation *self, const td_node_entry *entry, td_error *error) {
  if (!entry->needed && td_policy(separate_hooks)) {
    td_status status = td_evaluation_call_hooks(self, TD_HOOKS(tensor_pre), error);
    if (!status) status = td_evaluation_call_hooks(self, TD_HOOKS(retains_grad), error);
    if (status) return status;
  }
  if (!entry->captures) return TD_OK;
  measure_captured(self, entry);
  take_captured(self, entry);
  return TD_OK;
}

/* What a pass with wanted outputs does with a node: *runs tells whether its function is called. */
static td_status
select_node(td_evaluation *self, bool *runs, td_error *error) {
  const td_graph_task *graph_task = self->graph_task;
  const td_node_entry *entry = td_node_table_find(&graph_task->nodes, self->node);
  *runs = entry->needed;
  td_status status = capture_gradients(self, entry, error);
  if (!status && !entry->needed && !entry->captures)
    TD_EMIT_BORROWED(node_skip, .node = td_node_id(self->node), .graph_task = graph_task->handle.id,
                     .reason = TD_skip_reason_not_needed);
  return status;
}

static void
release_variables(const td_evaluation *self) {
  if (!self->node->klass->release_variables) return;
  td_node_release_variables(self->node);
  TD_EMIT_BORROWED(release, .node = td_node_id(self->node),
                   .graph_task = self->graph_task->handle.id);
}

static td_status
evaluate(td_evaluation *self, td_error *error) {
  td_graph_task *graph_task = self->graph_task;
  bool runs = true;
  td_status status = TD_OK;
  if (graph_task->selective) status = select_node(self, &runs, error);
  if (status || !runs) return status;
  measure_at_leaf(self);
  status = td_evaluation_call_function(self, error);
  if (status) return status;
  if (!graph_task->keep_graph) release_variables(self);
  if (self->node->n_outputs == 0) return TD_OK;
  measure_outputs(self);
  status = raise_anomalies(self, error);
  return status ? status : td_evaluation_scatter(self, error);
}

/* Whether nobody in the pass waits for what the node did on its stream: it has no node below, or it
 * was captured. */
static bool
is_last(const td_evaluation *self) {
  if (self->node->n_outputs == 0) return true;
  const td_node_entry *entry = NULL;
  if (self->graph_task->selective) entry = td_node_table_find(&self->graph_task->nodes, self->node);
  return entry && entry->captures;
}

td_status
td_evaluate_function(td_graph_task *graph_task, td_node_task *task, td_error *error) {
  td_evaluation self;
  td_node_guard guard;
  evaluation_init(&self, graph_task, task);
  if (TD_UNLIKELY(graph_task->streams != NULL))
    td_node_guard_enter(&guard, graph_task, task->node, task->buffer);
  td_status status = evaluate(&self, error);
  td_exposures_forget();
  if (TD_UNLIKELY(graph_task->streams != NULL))
    td_node_guard_leave(&guard, graph_task, self.node, is_last(&self));
  if (status) {
    TD_EMIT(error, .node = td_node_id(task->node), .graph_task = graph_task->handle.id,
            .text = td_intern(error ? td_error_text(error) : td_status_message(status)));
    td_gate_note(TD_TROUBLE_ERROR, td_node_id(task->node));
  }
  TD_GATE_POLL(status ? TD_EVENT_error : TD_EVENT_anomaly, td_node_id(task->node),
               graph_task->handle.id, td_node_name(task->node));
  evaluation_fini(&self);
  return status;
}
