/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/worker.h"

#include "engine/base/alloc.h"
#include "engine/graph/anomaly.h"
#include "engine/pass/device_threads.h"
#include "engine/pass/engine_thread.h"
#include "engine/pass/evaluate.h"
#include "engine/pass/pool.h"
#include "engine/pass/route.h"

_Thread_local td_engine_thread td_thread_self = {.device = TD_NO_DEVICE};

td_ready_queue *
td_worker_owner_queue(td_graph_task *graph_task) {
  return graph_task->cpu_ready_queue;
}

static void
emit_state(td_thread_activity state, const td_graph_task *graph_task) {
  TD_EMIT(thread_state, .state = state, .graph_task = graph_task->id);
}

static void
wake_owner(td_graph_task *graph_task) {
  emit_state(TD_thread_activity_notify_owner, graph_task);
  td_ready_queue_push(td_worker_owner_queue(graph_task),
                      (td_node_task){.graph_task = td_graph_task_weak_ref(graph_task)},
                      TD_push_reason_root);
}

bool
td_worker_run_node(td_graph_task *graph_task, td_node_task *task) {
  if (atomic_load_explicit(&graph_task->has_error, memory_order_acquire)) {
    TD_EMIT_BORROWED(node_skip, .node = td_node_id(task->node), .graph_task = graph_task->id,
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
  td_graph_task *graph_task = task->graph_task;
  bool is_own = graph_task == own; /* our caller holds it */
  if (!is_own && !td_graph_task_try_ref(graph_task)) {
    if (task->node)
      TD_EMIT_BORROWED(node_skip, .node = td_node_id(task->node), .graph_task = graph_task->id,
                       .reason = TD_skip_reason_expired);
    td_node_task_fini(task);
    return;
  }
  if (task->node) td_worker_run_node(graph_task, task);
  td_node_task_fini(task);
  td_graph_task_count_done(graph_task);
  if (td_graph_task_is_completed(graph_task)) {
    if (!td_graph_task_is_done(graph_task)) emit_state(TD_thread_activity_completed, graph_task);
    td_graph_task_complete(graph_task);
    if (td_thread_self.device != graph_task->owner) wake_owner(graph_task);
  }
  if (!is_own) td_graph_task_unref(graph_task);
}

void
td_worker_main(td_graph_task *graph_task) {
  while (!graph_task || !td_graph_task_is_done(graph_task)) {
    td_node_task task = td_ready_queue_pop(td_thread_self.queue);
    if (task.is_shutdown) return;
    run_task(graph_task, &task);
  }
}

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* drops a thread's queue when the thread ends */

static void
drop_queue_cb(void *queue) {
  td_ready_queue_unref(queue);
}

static void
make_key_cb(void) {
  pthread_key_create(&key, drop_queue_cb);
}

td_status
td_worker_enter(td_ready_queue **queue, uint32_t *depth, td_error *error) {
  td_status status = td_device_threads_start(error);
  if (status) return status;
  if (!td_thread_self.queue) {
    pthread_once(&key_once, make_key_cb);
    td_thread_self.queue = td_ready_queue_new(TD_CPU);
    pthread_setspecific(key, td_thread_self.queue);
  }
  td_ready_queue_announce(td_thread_self.queue, td_emit_thread_id());
  td_device_threads_announce();
  *queue = td_thread_self.queue;
  *depth = td_thread_self.device == TD_NO_DEVICE ? 0 : td_thread_self.total_depth + 1;
  return TD_OK;
}

/* The root enters its queue under the graph task's lock, which a nested pass keeps until the pool
 * has it: nobody scatters into a pass that is not under way. */
static void
push_root_locked(td_graph_task *graph_task, td_node_task root) {
  graph_task->owner = td_thread_self.device;
  td_ready_queue_push(td_ready_queue_for(graph_task, root.node, root.buffer), root,
                      TD_push_reason_root);
}

static void
run_outermost(td_graph_task *graph_task, td_node_task root) {
  td_thread_self.device = TD_CPU;
  td_lock_acquire(&graph_task->lock);
  push_root_locked(graph_task, root);
  td_lock_release(&graph_task->lock);
  td_worker_main(graph_task);
  td_thread_self.device = TD_NO_DEVICE;
  emit_state(TD_thread_activity_outside, graph_task);
}

static void
run_nested(td_graph_task *graph_task, td_node_task root) {
  bool is_too_deep = td_thread_self.current_depth >= TD_MAX_DEPTH;
  td_lock_acquire(&graph_task->lock);
  push_root_locked(graph_task, root);
  if (is_too_deep) td_pool_submit(graph_task);
  td_lock_release(&graph_task->lock);
  if (is_too_deep) {
    emit_state(TD_thread_activity_reentrant_wait, graph_task);
    return td_graph_task_wait(graph_task);
  }
  td_thread_self.current_depth++;
  td_thread_self.total_depth++;
  td_worker_main(graph_task);
  td_thread_self.current_depth--;
  td_thread_self.total_depth--;
}

void
td_worker_execute(td_graph_task *graph_task, td_node_task root) {
  td_ready_queue *outer = td_thread_self.queue; /* the same one but under scheduler_2017.h */
  td_thread_self.queue = graph_task->cpu_ready_queue;
  if (td_thread_self.device == TD_NO_DEVICE)
    run_outermost(graph_task, root);
  else
    run_nested(graph_task, root);
  td_thread_self.queue = outer;
}
