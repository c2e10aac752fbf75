/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/worker.h"

#include "engine/autograd/evaluate.h"
#include "engine/autograd/route.h"
#include "engine/autograd/variable.h"
#include "engine/base/alloc.h"
#include "engine/device/device.h"

#define NO_DEVICE ((td_device)-2)

/* What the calling thread is to the engine. */
static _Thread_local struct {
  td_device device;       /* NO_DEVICE outside a pass; a device thread's own for ever */
  uint32_t current_depth; /* nested passes on this thread */
  uint32_t total_depth;   /* re-entrancy of the work it does */
  td_ready_queue *queue;  /* (owned reference) kept for the thread's life */
} self = {.device = NO_DEVICE};

/* The device threads: started once, never joined; the process's end ends them. */
static struct {
  pthread_once_t once;
  td_ready_queue **queues; /* (owned references) [n] by device */
  int n;
  pthread_key_t key; /* drops a thread's queue when the thread ends */
  bool forked;       /* in the child of a fork: the threads are not here */
} devices = {.once = PTHREAD_ONCE_INIT};

td_ready_queue *
td_worker_queue(td_device device) {
  return device >= 0 && device < devices.n ? devices.queues[device] : NULL;
}

static void
emit_state(td_thread_activity state, const td_graph_task *graph_task) {
  TD_EMIT(thread_state, .state = state, .graph_task = graph_task->id);
}

static void
wake_owner(td_graph_task *graph_task) {
  td_ready_queue *queue = graph_task->owner == TD_CPU ? graph_task->cpu_ready_queue
                                                      : td_worker_queue(graph_task->owner);
  emit_state(TD_thread_activity_notify_owner, graph_task);
  td_ready_queue_push(queue, (td_node_task){.graph_task = td_graph_task_weak_ref(graph_task)},
                      TD_push_reason_root);
}

/* Runs the task's node as its graph task wants it, and settles the pass if that fails. */
static void
run_node(td_graph_task *graph_task, td_node_task *task) {
  if (atomic_load_explicit(&graph_task->has_error, memory_order_acquire)) {
    TD_EMIT_BORROWED(node_skip, .node = td_node_id(task->node), .graph_task = graph_task->id,
                     .reason = TD_skip_reason_error);
    return;
  }
  td_graph_task *outer_task = td_graph_task_now();
  bool outer_mode = td_grad_mode();
  td_graph_task_set_now(graph_task);
  td_grad_mode_set(graph_task->create_graph);
  td_error error = {0};
  td_status status = td_evaluate_function(graph_task, task, &error);
  if (status) td_graph_task_fail(graph_task, status, &error);
  td_grad_mode_set(outer_mode);
  td_graph_task_set_now(outer_task);
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
  if (task->node) run_node(graph_task, task);
  td_node_task_fini(task);
  if (td_graph_task_count_done(graph_task)) {
    if (!td_graph_task_is_done(graph_task)) emit_state(TD_thread_activity_completed, graph_task);
    td_graph_task_complete(graph_task);
    if (self.device != graph_task->owner) wake_owner(graph_task);
  }
  if (!is_own) td_graph_task_unref(graph_task);
}

/* Pops and runs until graph_task is done, or for ever where it is NULL. */
static void
thread_main(td_graph_task *graph_task) {
  while (!graph_task || !td_graph_task_is_done(graph_task)) {
    td_node_task task = td_ready_queue_pop(self.queue);
    if (task.is_shutdown) return;
    run_task(graph_task, &task);
  }
}

static void *
device_thread_main(void *data) {
  self.queue = data;
  self.device = self.queue->device;
  char *name = td_format("pt_autograd_%d", self.device);
  pthread_setname_np(pthread_self(), name);
  td_emit_name_thread(name, self.device);
  free(name);
  td_ready_queue_announce(self.queue, td_emit_thread_id());
  thread_main(NULL);
  return NULL;
}

static void
forked_cb(void) {
  devices.forked = devices.n > 0;
}

static void
drop_queue_cb(void *queue) {
  td_ready_queue_unref(queue);
}

static void
start_device_threads_cb(void) {
  pthread_key_create(&devices.key, drop_queue_cb);
  int n = td_device_count();
  if (n == 0) return;
  devices.queues = TD_NEW_N(td_ready_queue *, n);
  for (int device = 0; device < n; device++)
    devices.queues[device] = td_ready_queue_new(device);
  devices.n = n;
  pthread_atfork(NULL, NULL, forked_cb);
  for (int device = 0; device < n; device++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, device_thread_main, devices.queues[device]) == 0)
      pthread_detach(thread);
  }
}

td_status
td_worker_enter(td_ready_queue **queue, uint32_t *depth, td_error *error) {
  pthread_once(&devices.once, start_device_threads_cb);
  if (devices.forked)
    return td_error_set(
        error, TD_UNSUPPORTED,
        "Unable to handle autograd's threading in combination with fork-based "
        "multiprocessing. See https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork");
  if (self.device != NO_DEVICE && self.current_depth >= TD_MAX_DEPTH)
    return td_error_set(
        error, TD_UNSUPPORTED,
        "backward is nested %d deep in itself: deeper re-entry is not supported yet", TD_MAX_DEPTH);
  if (!self.queue) {
    self.queue = td_ready_queue_new(TD_CPU);
    pthread_setspecific(devices.key, self.queue);
  }
  td_ready_queue_announce(self.queue, td_emit_thread_id());
  for (int device = 0; device < devices.n; device++)
    td_ready_queue_announce(devices.queues[device], TD_NONE);
  *queue = self.queue;
  *depth = self.device == NO_DEVICE ? 0 : self.total_depth + 1;
  return TD_OK;
}

void
td_worker_execute(td_graph_task *graph_task, td_node_task root) {
  bool reentrant = self.device != NO_DEVICE;
  if (!reentrant) self.device = TD_CPU;
  graph_task->owner = self.device;
  td_ready_queue_push(td_ready_queue_for(graph_task, root.node, root.buffer), root,
                      TD_push_reason_root);
  self.current_depth += reentrant;
  self.total_depth += reentrant;
  thread_main(graph_task);
  self.current_depth -= reentrant;
  self.total_depth -= reentrant;
  if (!reentrant) {
    self.device = NO_DEVICE;
    emit_state(TD_thread_activity_outside, graph_task);
  }
}
