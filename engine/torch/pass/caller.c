/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/caller.h"

#include "engine/torch/pass/completion.h"
#include "engine/torch/pass/device_queues.h"
#include "engine/torch/pass/device_threads.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/pool.h"
#include "engine/torch/pass/route.h"
#include "engine/torch/pass/worker.h"

#define MAX_DEPTH 60 /* MAX_DEPTH of PyTorch's torch/csrc/autograd/engine.h */

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* drops a thread's queue when the thread ends */

static void
emit_state(td_thread_activity state, const td_graph_task *graph_task) {
  TD_EMIT(thread_state, .state = state, .graph_task = graph_task->handle.id);
}

static void
drop_queue_cb(void *queue) {
  td_ready_queue_unref(queue);
}

static void
make_key_cb(void) {
  pthread_key_create(&key, drop_queue_cb);
}

td_status
td_caller_enter(td_ready_queue **queue, uint32_t *depth, td_error *error) {
  td_status status = td_device_threads_start(error);
  if (status) return status;
  if (!td_thread_self.queue) {
    pthread_once(&key_once, make_key_cb);
    td_thread_self.queue = td_ready_queue_new(TD_CPU);
    pthread_setspecific(key, td_thread_self.queue);
  }
  td_ready_queue_announce(td_thread_self.queue, td_emit_thread_id());
  td_device_queues_announce();
  *queue = td_thread_self.queue;
  *depth = td_thread_self.device == TD_NO_DEVICE ? 0 : td_thread_self.total_depth + 1;
  return TD_OK;
}

/* The root enters its queue under the graph task's lock, which a nested pass keeps until the pool
 * has it: nobody scatters into a pass that is not under way. */
static void
push_root_locked(td_graph_task *graph_task, td_node_task root) {
  graph_task->owner = td_thread_self.device;
  td_ready_queue_push(td_route_queue(graph_task, root.node, root.buffer), root,
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
  bool is_too_deep = td_thread_self.current_depth >= MAX_DEPTH;
  td_error error = {0};
  td_status status = TD_OK;
  td_lock_acquire(&graph_task->lock);
  push_root_locked(graph_task, root);
  if (is_too_deep) status = td_pool_submit(&graph_task->handle, &error);
  td_lock_release(&graph_task->lock);
  if (status) return td_graph_task_fail(graph_task, status, &error);
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
td_caller_execute(td_graph_task *graph_task, td_node_task root) {
  td_ready_queue *outer = td_thread_self.queue; /* the same one, but under another scheduler */
  td_thread_self.queue = graph_task->cpu_ready_queue;
  if (td_thread_self.device == TD_NO_DEVICE)
    run_outermost(graph_task, root);
  else
    run_nested(graph_task, root);
  td_thread_self.queue = outer;
}
