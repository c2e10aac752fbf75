/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/variants/distributed_run.h"

#include "engine/base/alloc.h"
#include "engine/torch/pass/completion.h"
#include "engine/torch/pass/device_queues.h"
#include "engine/torch/pass/device_threads.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/fork.h"
#include "engine/torch/pass/worker.h"

#include <string.h>

/* Runs one task of the call's queue. Returns false if the pass has failed; the rest of the queue
 * stays behind then. */
static bool
run_one(td_graph_task *graph_task, td_ready_queue *queue) {
  td_node_task task = td_ready_queue_pop(queue);
  bool fine = !task.node || td_worker_run_node(graph_task, &task);
  td_node_task_fini(&task);
  if (fine) td_graph_task_count_done(graph_task);
  return fine;
}

/* Makes the calling thread a CPU worker until its queue is empty. */
static void
work(td_graph_task *graph_task, td_node_task task, bool is_counted) {
  td_engine_thread before = td_thread_self;
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_ready_queue_announce(queue, td_emit_thread_id());
  if (is_counted)
    td_ready_queue_push(queue, task, TD_push_reason_root);
  else
    td_ready_queue_push_uncounted(queue, task, TD_push_reason_precounted);
  td_thread_self.device = TD_CPU;
  td_thread_self.call.graph_task = graph_task;
  td_thread_self.call.queue = queue;
  while (td_ready_queue_size(queue) > 0 && run_one(graph_task, queue))
    continue;
  td_thread_self.device = before.device;
  td_thread_self.call = before.call;
  td_ready_queue_unref(queue);
  if (td_graph_task_is_completed(graph_task)) td_graph_task_complete(graph_task);
}

void
td_dist_run(td_graph_task *graph_task, td_node *node, td_input_buffer *buffer, bool is_counted) {
  td_error error = {0};
  if (td_device_threads_start(&error)) {
    td_graph_task_fail(graph_task, TD_AUTOGRAD, &error);
    return;
  }
  td_device_queues_announce();
  td_node_task task = {.graph_task = td_graph_task_weak_ref(graph_task),
                       .node = td_node_ref(node),
                       .buffer = buffer};
  work(graph_task, task, is_counted);
}

/* the global CPU thread */

static struct {
  pthread_once_t once;
  td_ready_queue *queue; /* (owned reference) */
  int failure;           /* errno of the attempt to start the thread */
} global = {.once = PTHREAD_ONCE_INIT};

static void *
continue_cb(void *data) {
  td_node_task *task = data;
  td_graph_task *graph_task = td_graph_task_of(task->graph_task);
  work(graph_task, *task, false);
  td_graph_task_unref(graph_task);
  free(task);
  return NULL;
}

/* Starts a thread, so that a node that waits delays no other. */
static void
launch(td_node_task task) {
  td_node_task *launched = TD_NEW(td_node_task);
  pthread_t thread;
  *launched = task;
  if (pthread_create(&thread, NULL, continue_cb, launched) == 0)
    pthread_detach(thread);
  else
    continue_cb(launched);
}

static void *
global_main(void *unused) {
  pthread_setname_np(pthread_self(), "pt_dist_cpu");
  td_emit_name_thread("pt_dist_cpu", TD_CPU);
  for (;;) {
    td_node_task task = td_ready_queue_pop(global.queue);
    if (td_graph_task_handle_try_ref(task.graph_task))
      launch(task);
    else
      td_node_task_fini(&task);
  }
  return NULL;
}

static void
start_global_cb(void) {
  pthread_t thread;
  td_fork_forbid();
  global.queue = td_ready_queue_new(TD_CPU);
  global.failure = pthread_create(&thread, NULL, global_main, NULL);
  if (!global.failure) pthread_detach(thread);
}

td_status
td_dist_global_queue(td_ready_queue **queue, td_error *error) {
  pthread_once(&global.once, start_global_cb);
  *queue = global.queue;
  return global.failure ? td_error_set(error, TD_AUTOGRAD, "%s", strerror(global.failure)) : TD_OK;
}
