/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/evaluate.h"

#include "engine/autograd/anomaly.h"
#include "engine/autograd/route.h"
#include "engine/autograd/statistics.h"
#include "engine/autograd/variable.h"
#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/device/device.h"

/* A sum of more bytes than this takes long enough for the events after it to deserve a time of
 * their own. */
#define WORTH_A_STAMP_BYTES 4096

/* Most nodes have few inputs and outputs: room for those without an allocation. */
#define FEW 8

/* The gradients of one evaluation. */
typedef struct evaluation {
  td_graph_task *graph_task;
  td_node *node;
  td_tensor **inputs, **outputs; /* outputs: (owned references) */
  unsigned *found;               /* per output, as anomaly.h */
  unsigned inputs_found;
  uint32_t n_inputs;
  td_tensor *few_inputs[FEW], *few_outputs[FEW];
  unsigned few_found[FEW];
} evaluation;

static void
evaluation_init(evaluation *self, td_graph_task *graph_task, td_node_task *task) {
  self->graph_task = graph_task;
  self->node = task->node;
  self->n_inputs = task->buffer ? task->buffer->n_slots : 0;
  self->inputs_found = 0;
  uint32_t n_outputs = task->node->n_outputs;
  bool few = self->n_inputs <= FEW && n_outputs <= FEW;
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
evaluation_fini(evaluation *self) {
  for (uint32_t i = 0; i < self->node->n_outputs; i++)
    td_tensor_unref(self->outputs[i]);
  if (self->outputs == self->few_outputs) return;
  free(self->inputs);
  free(self->outputs);
  free(self->found);
}

static size_t
bytes_of(td_tensor *const *tensors, uint32_t n) {
  size_t n_bytes = 0;
  for (uint32_t i = 0; i < n; i++)
    if (tensors[i]) n_bytes += td_tensor_n_bytes(tensors[i]);
  return n_bytes;
}

/* A simulated device takes the time its model says for what the kernel read and wrote. */
static td_status
apply_on_device(evaluation *self, td_device device, td_error *error) {
  td_node *node = self->node;
  uint64_t begin = td_clock_monotonic_ns();
  size_t n_bytes = bytes_of(self->inputs, self->n_inputs);
  TD_EMIT(kernel_begin, .device = device, .node = td_node_id(node),
          .bytes = (uint32_t)TD_MIN(n_bytes, (size_t)UINT32_MAX));
  td_status status = node->klass->apply(node, self->inputs, self->outputs, error);
  td_device_spend(device, begin, n_bytes + bytes_of(self->outputs, node->n_outputs));
  TD_EMIT(kernel_end, .device = device, .node = td_node_id(node));
  return status;
}

/* Whether this place, after what was found before, made something in the outputs. */
static void
look_at_outputs(evaluation *self, td_birthplace place, const char *hook) {
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

static td_status
call_post_hook(evaluation *self, td_post_hook *hook, td_error *error) {
  td_node *node = self->node;
  TD_EMIT(hook_begin, .node = td_node_id(node), .kind = TD_hook_kind_post,
          .owner = td_intern(hook->owner));
  td_status status = hook->call(hook, node, self->outputs, self->inputs, error);
  look_at_outputs(self, TD_birthplace_hook, hook->owner ? hook->owner : "");
  TD_EMIT(hook_end, .node = td_node_id(node), .kind = TD_hook_kind_post);
  return status;
}

static td_status
call_post_hooks(evaluation *self, td_error *error) {
  td_status status = TD_OK;
  uint32_t n;
  td_post_hook **hooks = td_node_hold_post_hooks(self->node, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (!status) status = call_post_hook(self, hooks[i], error);
    td_post_hook_unref(hooks[i]);
  }
  free(hooks);
  return status;
}

static td_status
apply_and_validate(evaluation *self, td_error *error) {
  td_node *node = self->node;
  td_device device = node->device;
  td_status status = device < 0 ? node->klass->apply(node, self->inputs, self->outputs, error)
                                : apply_on_device(self, device, error);
  if (status) return status;
  status =
      td_validate_outputs(node->next_edges, node->n_outputs, self->outputs, node->n_outputs, error);
  if (status) td_error_prefix(error, "Function %s returned an ", td_node_name(node));
  return status;
}

/* The node's function with everything that belongs to it: node_begin to node_end. */
static td_status
call_function(evaluation *self, td_error *error) {
  td_node *node = self->node;
  TD_EMIT(node_begin, .node = td_node_id(node), .graph_task = self->graph_task->id);
  TD_GATE_POLL(TD_EVENT_node_begin, td_node_id(node), self->graph_task->id, td_node_name(node));
  /* Hooks may want the inputs after the function took what it could. */
  bool hooked = node->post_hooks != NULL;
  for (uint32_t i = 0; hooked && i < self->n_inputs; i++)
    td_tensor_ref(self->inputs[i]);
  td_status status = apply_and_validate(self, error);
  if (!status && hooked) look_at_outputs(self, TD_birthplace_node, NULL);
  if (!status && hooked) status = call_post_hooks(self, error);
  for (uint32_t i = 0; hooked && i < self->n_inputs; i++)
    td_tensor_unref(self->inputs[i]);
  TD_EMIT(node_end, .node = td_node_id(node), .graph_task = self->graph_task->id);
  TD_GATE_POLL(TD_EVENT_node_end, td_node_id(node), self->graph_task->id, td_node_name(node));
  if (!status && !hooked) look_at_outputs(self, TD_birthplace_node, NULL);
  return status;
}

static void
measure_outputs(const evaluation *self) {
  for (uint32_t i = 0; i < self->node->n_outputs; i++)
    td_statistics_emit(TD_stats_place_output, self->node, i, self->outputs[i]);
}

/* What comes to a leaf, before it goes into .grad. */
static void
measure_at_leaf(const evaluation *self) {
  if (self->node->sequence_nr != TD_SEQUENCE_NR_MAX) return;
  for (uint32_t i = 0; i < self->n_inputs; i++)
    td_statistics_emit(TD_stats_place_leaf, self->node, i, self->inputs[i]);
}

static void
measure_captured(const evaluation *self, const td_node_entry *entry) {
  for (const td_capture *capture = entry->captures; capture; capture = capture->next)
    td_statistics_emit(TD_stats_place_input, self->node, capture->input_nr,
                       self->inputs[capture->input_nr]);
}

static td_status
raise_anomalies(const evaluation *self, td_error *error) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < self->node->n_outputs && !status; i++)
    status = td_anomaly_raise(self->node, i, self->found[i], error);
  return status;
}

static void
capture_gradients(evaluation *self, const td_node_entry *entry) {
  td_graph_task *graph_task = self->graph_task;
  td_lock_acquire(&graph_task->lock);
  uint64_t stamp = td_lock_stamp(&graph_task->lock);
  for (const td_capture *capture = entry->captures; capture; capture = capture->next) {
    td_tensor **place = &graph_task->captured[capture->output_nr];
    td_tensor_unref(*place);
    *place = td_tensor_ref(self->inputs[capture->input_nr]);
    TD_EMIT_AT(stamp, capture, .node = td_node_id(self->node), .graph_task = graph_task->id,
               .input_nr = capture->input_nr, .output_nr = capture->output_nr);
  }
  td_lock_release(&graph_task->lock);
}

/* Adds one gradient to a node's buffer, telling how, and whether the sum made something that is not
 * finite. */
static td_status
add_to_buffer(evaluation *self, td_input_buffer *buffer, uint32_t output_nr, uint64_t *stamp,
              td_error *error) {
  td_edge edge = self->node->next_edges[output_nr];
  td_input_slot *slot = &buffer->slots[edge.input_nr];
  td_input_slot gradient = td_input_slot_new(self->outputs[output_nr], self->found[output_nr],
                                             (td_contributor){td_node_id(self->node), output_nr});
  self->outputs[output_nr] = NULL;
  td_input_slot earlier = *slot;
  size_t n_bytes = gradient.tensor ? td_tensor_n_bytes(gradient.tensor) : 0;
  td_accumulation mode;
  td_status status = td_input_buffer_add(buffer, edge.input_nr, gradient, &mode, error);
  if (status) return status;
  bool summed = mode == TD_accumulation_in_place || mode == TD_accumulation_out_of_place;
  if (summed && n_bytes > WORTH_A_STAMP_BYTES && *stamp) *stamp = td_clock_now();
  TD_EMIT_AT(*stamp, buffer_add, .node = td_node_id(edge.node), .graph_task = self->graph_task->id,
             .input_nr = edge.input_nr, .from = td_node_id(self->node), .mode = mode,
             .bytes = (uint32_t)TD_MIN(n_bytes, (size_t)UINT32_MAX));
  td_contributor other = td_input_slot_blamed(&earlier, gradient.found);
  const td_birth birth = {.place = TD_birthplace_sum,
                          .node = edge.node,
                          .number = edge.input_nr,
                          .from = td_node_id(self->node),
                          .from_output_nr = output_nr,
                          .other = other.node,
                          .other_output_nr = other.output_nr};
  if (summed) td_anomaly_note(earlier.found | gradient.found, slot->found, &birth);
  return TD_OK;
}

/* Where a gradient goes: into the buffer of the node below, which is then pushed or parked. */
static td_status
scatter_one_locked(evaluation *self, uint32_t output_nr, uint64_t *stamp, td_error *error) {
  td_graph_task *graph_task = self->graph_task;
  td_edge edge = self->node->next_edges[output_nr];
  td_node_entry *entry = td_node_table_find(&graph_task->nodes, edge.node);
  if (!entry || !entry->has_dependencies)
    return td_error_set(error, TD_AUTOGRAD, "dependency not found for %s", td_node_name(edge.node));
  bool is_ready = --entry->dependencies == 0;
  if (is_ready) entry->has_dependencies = false;
  TD_EMIT_AT(*stamp, dependency_dec, .node = td_node_id(edge.node), .graph_task = graph_task->id,
             .left = entry->dependencies, .by = td_node_id(self->node));
  bool was_parked = entry->buffer != NULL;
  if (!was_parked) {
    if (graph_task->selective && !entry->needed && !entry->captures) return TD_OK;
    entry->buffer = td_input_buffer_new(edge.node->n_inputs);
    TD_EMIT_AT(*stamp, buffer_new, .node = td_node_id(edge.node), .graph_task = graph_task->id);
  }
  td_status status = add_to_buffer(self, entry->buffer, output_nr, stamp, error);
  if (status) return status;
  if (!is_ready) {
    graph_task->n_parked += !was_parked;
    if (!was_parked)
      TD_EMIT_AT(*stamp, buffer_park, .node = td_node_id(edge.node), .graph_task = graph_task->id);
    return TD_OK;
  }
  graph_task->n_parked -= was_parked;
  TD_EMIT_AT(*stamp, buffer_ready, .node = td_node_id(edge.node), .graph_task = graph_task->id);
  td_node_task task = {.graph_task = td_graph_task_weak_ref(graph_task),
                       .node = td_node_ref(edge.node),
                       .buffer = entry->buffer};
  entry->buffer = NULL;
  td_ready_queue *queue = td_ready_queue_for(graph_task, edge.node, task.buffer);
  td_ready_queue_push(queue, task, TD_push_reason_ready);
  if (*stamp) *stamp = td_emit_last_time(); /* what follows is not earlier than the push */
  return TD_OK;
}

static td_status
scatter(evaluation *self, td_error *error) {
  td_graph_task *graph_task = self->graph_task;
  td_status status = TD_OK;
  td_lock_acquire(&graph_task->lock);
  uint64_t stamp = td_lock_stamp(&graph_task->lock);
  for (uint32_t i = 0; i < self->node->n_outputs && !status; i++)
    if (self->node->next_edges[i].node) status = scatter_one_locked(self, i, &stamp, error);
  td_lock_release(&graph_task->lock);
  return status;
}

static td_status
evaluate(evaluation *self, td_error *error) {
  td_graph_task *graph_task = self->graph_task;
  if (graph_task->selective) {
    const td_node_entry *entry = td_node_table_find(&graph_task->nodes, self->node);
    if (entry->captures) {
      measure_captured(self, entry);
      capture_gradients(self, entry);
    }
    if (!entry->needed) {
      if (!entry->captures)
        TD_EMIT_BORROWED(node_skip, .node = td_node_id(self->node), .graph_task = graph_task->id,
                         .reason = TD_skip_reason_not_needed);
      return TD_OK;
    }
  }
  measure_at_leaf(self);
  td_status status = call_function(self, error);
  if (status) return status;
  if (!graph_task->keep_graph) td_node_release_variables(self->node);
  if (self->node->n_outputs == 0) return TD_OK;
  measure_outputs(self);
  status = raise_anomalies(self, error);
  return status ? status : scatter(self, error);
}

td_status
td_evaluate_function(td_graph_task *graph_task, td_node_task *task, td_error *error) {
  evaluation self;
  evaluation_init(&self, graph_task, task);
  td_status status = evaluate(&self, error);
  if (status) {
    TD_EMIT(error, .node = td_node_id(task->node), .graph_task = graph_task->id,
            .text = td_intern(error ? td_error_text(error) : td_status_message(status)));
    td_gate_note(TD_TROUBLE_ERROR, td_node_id(task->node));
  }
  TD_GATE_POLL(status ? TD_EVENT_error : TD_EVENT_anomaly, td_node_id(task->node), graph_task->id,
               td_node_name(task->node));
  evaluation_fini(&self);
  return status;
}
