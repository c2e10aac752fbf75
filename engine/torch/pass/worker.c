/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/worker.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/events/core_waits.h"
#include "engine/events/gil.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/pass/completion.h"
#include "engine/torch/pass/evaluate.h"
#include "engine/torch/pass/steer.h"
#include "engine/torch/pass/task_guard.h"

static void
emit_state(td_thread_activity state, const td_graph_task *graph_task) {
  TD_EMIT(thread_state, .state = state, .graph_task = graph_task->handle.id);
}

static void
wake_owner(td_graph_task *graph_task) {
  emit_state(TD_thread_activity_notify_owner, graph_task);
  td_ready_queue_push(graph_task->cpu_ready_queue,
                      (td_node_task){.graph_task = td_graph_task_weak_ref(graph_task)},
                      TD_push_reason_root);
}

bool
td_worker_run_node(td_graph_task *graph_task, td_node_task *task) {
  if (atomic_load_explicit(&graph_task->has_error, memory_order_acquire)) {
    TD_EMIT_BORROWED(node_skip, .node = td_node_id(task->node), .graph_task = graph_task->handle.id,
                     .reason = TD_skip_reason_error);
    return true;
  }
  td_task_guard guard;
  td_task_guard_enter(&guard, graph_task, task->node);
  td_error error = {0};
  td_status status = td_evaluate_function(graph_task, task, &error);
  if (status) {
    bool is_first = !atomic_exchange_explicit(&graph_task->has_error, true, memory_order_acq_rel);
    if (is_first && td_anomaly_mode()) td_anomaly_print_stacks(task->node);
    td_graph_task_fail(graph_task, status, &error);
  }
  td_task_guard_leave(&guard);
  return !status;
}

/* One task from pop to count down. The gradients are let go before the count, so that whoever sees
 * the pass complete is the only one to hold them. */
static void
run_task(td_graph_task *own, td_node_task *task) {
  td_graph_task *graph_task = td_graph_task_of(task->graph_task);
  bool is_own = graph_task == own; /* our caller holds it */
  if (!is_own && !td_graph_task_handle_try_ref(task->graph_task)) {
    if (task->node)
      TD_EMIT_BORROWED(node_skip, .node = td_node_id(task->node),
                       .graph_task = graph_task->handle.id, .reason = TD_skip_reason_expired);
    td_node_task_fini(task);
    return;
  }
  if (task->node) {
    td_worker_run_node(graph_task, task);
    td_core_look_since(td_emit_last_time());
  }
  td_node_task_fini(task);
  td_graph_task_count_done(graph_task);
  if (td_graph_task_is_completed(graph_task)) {
    if (!td_graph_task_is_done(graph_task)) emit_state(TD_thread_activity_completed, graph_task);
    td_graph_task_complete(graph_task);
    if (td_thread_self.device != graph_task->owner) wake_owner(graph_task);
  }
  if (!is_own) td_graph_task_unref(graph_task);
}

static void
run_tasks(td_graph_task *graph_task) {
  while (!graph_task || !td_graph_task_is_done(graph_task)) {
    if (td_gate_is_armed()) td_steer_poll(td_thread_self.queue);
    td_node_task task = td_ready_queue_pop(td_thread_self.queue);
    if (task.is_shutdown) return;
    run_task(graph_task, &task);
  }
}

void
td_worker_main(td_graph_task *graph_task) {
  td_gil_enter();
  run_tasks(graph_task);
  td_gil_leave();
}
