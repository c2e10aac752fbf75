/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/expose.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/anomaly_mode.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/pass/graph_task.h"

/* One sum that the function was given. */
typedef struct td_exposure {
  const td_tensor *sum; /* never followed: the slot has it as long as it is the sum */
  uint32_t version;
  struct td_exposure *next;
} exposure;

_Thread_local exposure *td_exposures;
static _Thread_local bool function_runs; /* the one that was given the sums */

static td_status
check_node(const td_node *node, td_error *error) {
  const td_graph_task *graph_task = td_graph_task_now();
  if (!graph_task)
    return td_error_set(error, TD_AUTOGRAD,
                        "input_grad_buffers can only be accessed while autograd is executing "
                        "backward()");
  if (td_node_now() != node)
    return td_error_set(error, TD_AUTOGRAD,
                        "input_grad_buffers can only be accessed from the currently executing "
                        "autograd.Function backward()");
  if (graph_task->create_graph)
    return td_error_set(error, TD_AUTOGRAD,
                        "input_grad_buffers does not support create_graph=True");
  if (td_anomaly_mode())
    return td_error_set(error, TD_AUTOGRAD,
                        "input_grad_buffers does not support anomaly detection");
  return TD_OK;
}

/* Sums of accelerators are left alone: whoever adds to one must use its stream. */
static bool
may_be_written(const td_tensor *sum) {
  return sum && !sum->sparse && sum->device == TD_CPU && td_refcount_get(&sum->refs) == 1 &&
         td_refcount_get(&sum->storage->refs) == 1 && !td_requires_grad(sum) &&
         td_tensor_is_dense(sum);
}

static bool
is_known(const td_tensor *sum) {
  for (const exposure *self = td_exposures; self; self = self->next)
    if (self->sum == sum) return true;
  return false;
}

/* A function may ask several times; what the sum was at first counts. */
static td_tensor *
expose_slot(td_graph_task *graph_task, const td_node *by, td_edge edge, td_input_slot *slot) {
  if (is_known(slot->tensor)) return td_tensor_ref(slot->tensor);
  exposure *self = TD_NEW(exposure);
  self->sum = slot->tensor;
  self->version = td_tensor_version(slot->tensor);
  self->next = td_exposures;
  td_exposures = self;
  function_runs = true;
  slot->exposed_on = (uint64_t)pthread_self();
  TD_EMIT(buffer_expose, .node = td_node_id(edge.node), .graph_task = graph_task->handle.id,
          .input_nr = edge.input_nr, .by = td_node_id(by),
          .bytes = (uint32_t)TD_MIN(td_tensor_n_bytes(slot->tensor), (size_t)UINT32_MAX));
  return td_tensor_ref(slot->tensor);
}

td_status
td_expose(td_node *node, td_tensor **sums, td_error *error) {
  td_status status = check_node(node, error);
  if (status) return status;
  td_graph_task *graph_task = td_graph_task_now();
  td_lock_acquire(&graph_task->lock);
  for (uint32_t i = 0; i < node->n_outputs; i++) {
    td_edge edge = node->next_edges[i];
    td_node_entry *entry = edge.node ? td_node_table_find(&graph_task->nodes, edge.node) : NULL;
    td_input_slot *slot = entry && entry->buffer ? &entry->buffer->slots[edge.input_nr] : NULL;
    bool fits = slot && may_be_written(slot->tensor);
    sums[i] = fits ? expose_slot(graph_task, node, edge, slot) : NULL;
  }
  td_lock_release(&graph_task->lock);
  return TD_OK;
}

td_status
td_exposures_refuse_pass(td_error *error) {
  if (!function_runs) return TD_OK;
  return td_error_set(error, TD_AUTOGRAD,
                      "Calling backward or grad reentrantly after accessing a non-None "
                      "ctx.input_grad_buffers entry is not supported");
}

void
td_exposures_end(void) {
  function_runs = false;
}

void
td_exposures_drop(void) {
  function_runs = false;
  while (td_exposures) {
    exposure *next = td_exposures->next;
    free(td_exposures);
    td_exposures = next;
  }
}

bool
td_exposures_was_added_to(const td_input_slot *slot) {
  for (const exposure *self = td_exposures; self && slot->tensor; self = self->next)
    if (self->sum == slot->tensor) return td_tensor_version(slot->tensor) != self->version;
  return false;
}
