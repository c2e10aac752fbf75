/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/scatter.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/sim.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/pass/expose.h"
#include "engine/torch/pass/route.h"

/* A sum of more bytes than this takes long enough for the events after it to deserve a time of
 * their own. */
#define WORTH_A_STAMP_BYTES 4096

/* A sum under the lock that takes more ticks, 20 us at 2.5 GHz, has an event of its own. No shorter
 * gradient takes so long. */
#define LONG_SUM_TICKS 50000
#define LONG_SUM_BYTES 16384

/* A gradient of this node was added to what `other` had contributed. */
static void
note_birth(const td_evaluation *self, uint32_t output_nr, td_contributor other, unsigned before,
           unsigned after) {
  td_edge edge = self->node->next_edges[output_nr];
  const td_birth birth = {.place = TD_birthplace_sum,
                          .node = edge.node,
                          .number = edge.input_nr,
                          .from = td_node_id(self->node),
                          .from_output_nr = output_nr,
                          .other = other.node,
                          .other_output_nr = other.output_nr};
  td_anomaly_note(before, after, &birth);
}

/* What the node has added to a sum by itself (expose.h). */
static void
tell_direct_addition(const td_evaluation *self, td_edge edge, td_input_slot *slot,
                     uint32_t output_nr, uint64_t stamp) {
  unsigned before = slot->found;
  TD_EMIT_AT(stamp, buffer_add, .node = td_node_id(edge.node),
             .graph_task = self->graph_task->handle.id, .input_nr = edge.input_nr,
             .from = td_node_id(self->node), .mode = TD_accumulation_direct,
             .bytes = (uint32_t)TD_MIN(td_tensor_n_bytes(slot->tensor), (size_t)UINT32_MAX));
  slot->found = td_anomaly_look(slot->tensor);
  note_birth(self, output_nr, slot->latest, before, slot->found);
}

static void
tell_long_sum(const td_evaluation *self, td_node *node, td_accumulation mode, uint64_t began,
              uint64_t ended) {
  if (ended < began + LONG_SUM_TICKS) return;
  TD_EMIT_AT(ended, lock_work, .lock = TD_lock_kind_graph_task,
             .object = self->graph_task->handle.id, .node = td_node_id(node), .mode = mode,
             .took = ended - began);
}

/* Adds one gradient to a node's buffer, telling how, and whether the sum made something that is not
 * finite. */
static td_status
add_to_buffer(td_evaluation *self, td_input_buffer *buffer, uint32_t output_nr, uint64_t *stamp,
              td_error *error) {
  td_edge edge = self->node->next_edges[output_nr];
  td_input_slot *slot = &buffer->slots[edge.input_nr];
  td_input_slot gradient = td_input_slot_new(self->outputs[output_nr], self->found[output_nr],
                                             (td_contributor){td_node_id(self->node), output_nr});
  self->outputs[output_nr] = NULL;
  bool is_added = td_exposures_added(slot);
  if (is_added) tell_direct_addition(self, edge, slot, output_nr, *stamp);
  td_input_slot earlier = *slot;
  size_t n_bytes = gradient.tensor ? td_tensor_n_bytes(gradient.tensor) : 0;
  td_accumulation mode;
  td_arrival arrival = {.consumer = edge.node};
  td_arrival *streams = td_arrival_between(&arrival, gradient.tensor, self->node);
  bool may_be_long = slot->tensor && n_bytes >= LONG_SUM_BYTES && *stamp;
  uint64_t began = may_be_long ? td_clock_now() : 0;
  td_status status = td_input_buffer_add(buffer, edge.input_nr, gradient, streams, &mode, error);
  if (status) return status;
  if (streams && *stamp) *stamp = td_emit_last_time(); /* of what joined streams */
  bool summed = mode == TD_accumulation_in_place || mode == TD_accumulation_out_of_place;
  if (summed && n_bytes > WORTH_A_STAMP_BYTES && *stamp) *stamp = td_clock_now();
  td_anomaly_carry(self->node, edge.node, self->graph_task->handle.id, gradient.found, *stamp);
  if (!is_added || mode != TD_accumulation_undefined)
    TD_EMIT_AT(*stamp, buffer_add, .node = td_node_id(edge.node),
               .graph_task = self->graph_task->handle.id, .input_nr = edge.input_nr,
               .from = td_node_id(self->node), .mode = mode,
               .bytes = (uint32_t)TD_MIN(n_bytes, (size_t)UINT32_MAX),
               .stream_case = arrival.stream_case, .stream = arrival.stream.number);
  if (may_be_long) tell_long_sum(self, edge.node, mode, began, *stamp);
  td_contributor other = td_input_slot_blamed(&earlier, gradient.found);
  if (summed) note_birth(self, output_nr, other, earlier.found | gradient.found, slot->found);
  return TD_OK;
}

/* Where a gradient goes: into the buffer of the node below, which is then pushed or parked. */
static td_status
scatter_one_locked(td_evaluation *self, uint32_t output_nr, uint64_t *stamp, td_error *error) {
  td_graph_task *graph_task = self->graph_task;
  td_edge edge = self->node->next_edges[output_nr];
  td_node_entry *entry = td_node_table_find(&graph_task->nodes, edge.node);
  if (!entry || !entry->has_dependencies)
    return td_error_set(error, TD_AUTOGRAD, "dependency not found for %s", td_node_name(edge.node));
  bool is_ready = --entry->dependencies == 0;
  if (is_ready) entry->has_dependencies = false;
  TD_EMIT_AT(*stamp, dependency_dec, .node = td_node_id(edge.node),
             .graph_task = graph_task->handle.id, .left = entry->dependencies,
             .by = td_node_id(self->node));
  bool was_parked = entry->buffer != NULL;
  if (!was_parked) {
    if (graph_task->selective && !entry->needed && !entry->captures) return TD_OK;
    entry->buffer = td_input_buffer_new(edge.node->n_inputs);
    TD_EMIT_AT(*stamp, buffer_new, .node = td_node_id(edge.node),
               .graph_task = graph_task->handle.id);
  }
  if (TD_UNLIKELY(td_sim_is_virtual))
    entry->buffer->time = TD_MAX(entry->buffer->time, td_sim_now());
  td_status status = add_to_buffer(self, entry->buffer, output_nr, stamp, error);
  if (status) return status;
  if (!is_ready) {
    graph_task->n_parked += !was_parked;
    if (!was_parked)
      TD_EMIT_AT(*stamp, buffer_park, .node = td_node_id(edge.node),
                 .graph_task = graph_task->handle.id);
    return TD_OK;
  }
  graph_task->n_parked -= was_parked;
  TD_EMIT_AT(*stamp, buffer_ready, .node = td_node_id(edge.node),
             .graph_task = graph_task->handle.id);
  td_node_task task = {.graph_task = td_graph_task_weak_ref(graph_task),
                       .node = td_node_ref(edge.node),
                       .buffer = entry->buffer};
  entry->buffer = NULL;
  td_ready_queue *queue = td_route_queue(graph_task, edge.node, task.buffer);
  td_ready_queue_push(queue, task, TD_push_reason_ready);
  if (*stamp) *stamp = td_emit_last_time(); /* what follows is not earlier than the push */
  return TD_OK;
}

td_status
td_evaluation_scatter(td_evaluation *self, td_error *error) {
  td_graph_task *graph_task = self->graph_task;
  if (TD_UNLIKELY(graph_task->scheduler != NULL))
    return graph_task->scheduler->scatter(graph_task, self->node, self->outputs, error);
  td_status status = TD_OK;
  td_lock_acquire(&graph_task->lock);
  uint64_t stamp = td_lock_stamp(&graph_task->lock);
  for (uint32_t i = 0; i < self->node->n_outputs && !status; i++)
    if (self->node->next_edges[i].node) status = scatter_one_locked(self, i, &stamp, error);
  td_lock_release(&graph_task->lock);
  return status;
}
