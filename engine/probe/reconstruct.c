/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Reconstruction]
 * Seen are the graph, the calls of backward, and on which thread each node begins and ends. What
 * lies between follows: a node that ended hands its gradients on, counts fall, what reaches zero
 * enters the queue of its device, and the thread pops what it begins next. When a thread hands on
 * is not seen, only that it is after the node's end and before the thread's next event or the begin
 * of a node that needed it. So it is told at the last moment: by the thread itself at its next
 * event, or, if another thread begins what can only have come from there, just before that, on the
 * thread that did it: nobody writes to a thread's ring but under the lock of this file.
 *
 * Some tasks pass without a hook being called: the GraphRoot, a node that is only captured, tasks
 * of a pass that failed. They are popped when the queue's order says so, which is just before what
 * is seen next. Where a thread begins a node that waits for more, the rules do not explain what was
 * seen: the pass is given up with a mark on the tape, and only begins and ends are told. Where it
 * begins one that is ready but not first, another thread's push was told of too early: the seen
 * order stands, with a mark. */
#include "engine/probe/reconstruct.h"

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/events/emit.h"
#include "engine/probe/passes.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DEPTH 60 /* nested passes on one thread; deeper ones go to the pool */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static td_reconstruct_options options;
static td_rthread *threads;                  /* (owned) all that were seen */
static _Thread_local td_rthread *own_thread; /* (borrowed) */
static td_rpass **passes;                    /* (owned references) under way */
static size_t n_passes, passes_capacity;
static td_rqueue **queues; /* (owned) */
static size_t n_queues, queues_capacity;
static uint32_t n_graph_tasks, n_calls, n_recordings;

/* threads */

static td_rthread *
make_thread(void) {
  char name[16] = "";
  td_rthread *thread = TD_NEW(td_rthread);
  *thread = (td_rthread){.next = threads, .recording = n_recordings, .id = td_emit_thread_id()};
  threads = thread;
  pthread_getname_np(pthread_self(), name, sizeof name);
  bool is_main = syscall(SYS_gettid) == getpid();
  td_emit_name_thread(is_main ? "main" : name, TD_DEVICE_CPU);
  return thread;
}

static td_rthread *
thread_now(void) {
  if (!own_thread || own_thread->recording != n_recordings) own_thread = make_thread();
  td_rthread *thread = own_thread;
  thread->ring = td_emit_ring;
  return thread;
}

/* Between the two, what is emitted is told by `thread`. */
static td_ring *
speak_for(const td_rthread *thread) {
  td_ring *own = td_emit_ring;
  if (thread->ring) td_emit_ring = thread->ring;
  return own;
}

static void
speak_for_self(td_ring *own) {
  td_emit_ring = own;
}

/* queues */

static td_rqueue *
make_queue(int32_t device, uint32_t owner) {
  td_rqueue *queue = TD_NEW(td_rqueue);
  *queue = (td_rqueue){.id = (uint32_t)n_queues, .device = device};
  TD_GROW(queues, n_queues, queues_capacity);
  queues[n_queues++] = queue;
  if (options.queues_known)
    TD_EMIT(queue_new, .queue = queue->id, .device = device, .graph_task = TD_NONE, .owner = owner,
            .order = TD_queue_order_heap);
  return queue;
}

static td_rqueue *
device_queue(int32_t device) {
  for (size_t i = 0; i < n_queues; i++)
    if (queues[i]->device == device) return queues[i];
  return make_queue(device, TD_NONE);
}

static int32_t
device_of(const td_rtask *task) {
  return task->node->device != TD_DEVICE_CPU ? task->node->device : task->device;
}

static td_rqueue *
queue_for(const td_rpass *pass, const td_rtask *task) {
  int32_t device = device_of(task);
  return device == TD_DEVICE_CPU ? pass->queue : device_queue(device);
}

static void
push(td_rpass *pass, td_rtask *task, td_push_reason reason) {
  td_rqueue *queue = queue_for(pass, task);
  task->pushed = true;
  pass->outstanding++;
  td_rqueue_push(queue, pass, task->node);
  if (options.queues_known)
    TD_EMIT(queue_push, .queue = queue->id, .node = task->node->id, .graph_task = pass->graph_task,
            .size = (uint32_t)queue->n, .reason = reason);
}

static void
emit_pop(const td_rqueue *queue, const td_rpass *pass, uint32_t node) {
  if (options.queues_known)
    TD_EMIT(queue_pop, .queue = queue->id, .node = node, .graph_task = pass->graph_task,
            .size = (uint32_t)queue->n, .waited = 0);
}

static void
count_done(td_rpass *pass) {
  pass->outstanding--;
  TD_EMIT(outstanding, .graph_task = pass->graph_task, .value = pass->outstanding);
}

/* passes */

static void
emit_exec_info(const td_rpass *pass) {
  for (uint32_t i = 0; i < pass->n_tasks; i++)
    TD_EMIT_BORROWED(exec_info, .graph_task = pass->graph_task, .node = pass->tasks[i].node->id,
                     .needed = pass->tasks[i].needed, .captures = pass->tasks[i].n_captures);
}

static void
emit_dependencies(const td_rpass *pass) {
  for (uint32_t i = 0; i < pass->n_tasks; i++)
    if (pass->tasks[i].counted)
      TD_EMIT_BORROWED(dependency, .graph_task = pass->graph_task, .node = pass->tasks[i].node->id,
                       .count = pass->tasks[i].dependencies);
}

static void
emit_node(const td_rnode *node, const char *name, uint32_t stack) {
  TD_EMIT(node_new, .node = node->id, .name = td_intern(name), .sequence_nr = node->sequence_nr,
          .topological_nr = node->topological_nr, .device = node->device, .stream = 0,
          .n_inputs = node->n_inputs, .n_outputs = node->n_edges, .stack = stack);
  for (uint32_t i = 0; i < node->n_edges; i++)
    if (node->edges[i].node != TD_NONE)
      TD_EMIT_BORROWED(edge_new, .from = node->id, .output_nr = i, .to = node->edges[i].node,
                       .input_nr = node->edges[i].input_nr);
}

static void
push_root(td_rpass *pass) {
  td_rtask *root = td_rpass_find(pass, pass->root);
  const td_seen_gradient *given = &pass->root_gradient;
  if (pass->n_roots == 1) {
    root->device = given->device;
    root->buffered = true;
    root->filled = pass->root_input_nr < 64 ? UINT64_C(1) << pass->root_input_nr : 0;
    TD_EMIT(buffer_add, .node = root->node->id, .graph_task = pass->graph_task,
            .input_nr = pass->root_input_nr, .from = TD_NONE, .mode = TD_accumulation_move,
            .bytes = (uint32_t)TD_MIN(given->n_bytes, (uint64_t)UINT32_MAX));
  }
  push(pass, root, TD_push_reason_root);
}

/* The first that shows that the engine took the call. Speaks for the thread that called. */
static void
announce(td_rpass *pass) {
  if (pass->graph_task != TD_NONE) return;
  pass->graph_task = n_graph_tasks++;
  if (pass->n_roots != 1) emit_node(pass->root, "GraphRoot", 0);
  TD_EMIT(graph_task_begin, .graph_task = pass->graph_task, .depth = pass->depth,
          .owner = pass->owner, .keep_graph = pass->keep_graph, .create_graph = pass->create_graph,
          .accumulate_grad = pass->accumulate_grad, .root = pass->root->id,
          .n_roots = pass->n_roots, .n_outputs = pass->n_outputs);
  emit_dependencies(pass);
  if (pass->selective) emit_exec_info(pass);
  if (pass->outer) {
    TD_EMIT(reentrant_enter, .graph_task = pass->graph_task, .outer = pass->outer->graph_task,
            .node = pass->outer_node->id, .depth = pass->depth);
    if (pass->in_pool) TD_EMIT(pool_push, .graph_task = pass->graph_task);
  }
  push_root(pass);
}

static void
announce_for_caller(td_rpass *pass) {
  for (td_rthread *thread = threads; thread; thread = thread->next) {
    if (thread->id != pass->owner) continue;
    td_ring *own = speak_for(thread);
    announce(pass);
    speak_for_self(own);
    return;
  }
  announce(pass);
}

/* What was seen does not follow from the rules. */
static void
give_up(td_rpass *pass, const char *why) {
  if (pass->lost) return;
  char *text = td_format("graph task %u is reconstructed up to here: %s", pass->graph_task, why);
  TD_EMIT(mark, .text = td_intern(text));
  free(text);
  pass->lost = true;
  for (size_t i = 0; i < n_queues; i++)
    td_rqueue_forget(queues[i], pass);
}

/* What a node that ended does with its gradients */

static void
add_to_buffer(td_rpass *pass, td_rtask *task, uint32_t input_nr, const td_rnode *from,
              const td_seen_gradient *gradient) {
  uint64_t input = input_nr < 64 ? UINT64_C(1) << input_nr : 0;
  bool sums = task->filled & input;
  td_accumulation mode = TD_accumulation_move;
  if (!gradient->defined)
    mode = TD_accumulation_undefined;
  else if (sums)
    mode = options.sums_in_place && !pass->create_graph ? TD_accumulation_in_place
                                                        : TD_accumulation_out_of_place;
  TD_EMIT(buffer_add, .node = task->node->id, .graph_task = pass->graph_task, .input_nr = input_nr,
          .from = from->id, .mode = mode,
          .bytes = (uint32_t)TD_MIN(gradient->n_bytes, (uint64_t)UINT32_MAX));
  if (!gradient->defined) return;
  task->filled |= input;
  if (task->device == TD_DEVICE_CPU) task->device = gradient->device;
}

static void
hand_on_one(td_rpass *pass, const td_rnode *from, td_seen_edge edge,
            const td_seen_gradient *gradient) {
  td_rnode *node = td_rnode_find(edge.node);
  td_rtask *task = node ? td_rpass_find(pass, node) : NULL;
  if (!task || !task->counted || task->dependencies == 0)
    return give_up(pass, "a gradient came to a node that waited for none");
  task->dependencies--;
  TD_EMIT(dependency_dec, .node = node->id, .graph_task = pass->graph_task,
          .left = task->dependencies, .by = from->id);
  bool is_ready = task->dependencies == 0, was_buffered = task->buffered;
  if (!was_buffered) {
    if (!td_rtask_wanted(pass, task)) return;
    TD_EMIT(buffer_new, .node = node->id, .graph_task = pass->graph_task);
  }
  add_to_buffer(pass, task, edge.input_nr, from, gradient);
  task->buffered = true;
  if (is_ready) {
    TD_EMIT(buffer_ready, .node = node->id, .graph_task = pass->graph_task);
    push(pass, task, TD_push_reason_ready);
  } else if (!was_buffered) {
    TD_EMIT(buffer_park, .node = node->id, .graph_task = pass->graph_task);
  }
}

static void
hand_on(td_rpass *pass, td_rnode *node, const td_seen_gradient *gradients, uint32_t n) {
  const td_seen_gradient unknown = {.defined = true, .device = TD_DEVICE_CPU};
  for (uint32_t i = 0; i < node->n_edges && !pass->lost; i++)
    if (node->edges[i].node != TD_NONE)
      hand_on_one(pass, node, node->edges[i], i < n ? &gradients[i] : &unknown);
  if (!pass->lost) count_done(pass);
}

/* A thread's last node hands on, if it has not yet: told by that thread. */
static void
settle(td_rthread *thread) {
  td_running ended = thread->ended;
  if (!ended.pass) return;
  thread->ended = (td_running){0};
  td_ring *own = speak_for(thread);
  if (!ended.pass->lost) hand_on(ended.pass, ended.node, thread->gradients, thread->n_gradients);
  speak_for_self(own);
  td_rpass_unref(ended.pass);
}

/* One other thread's, if there is one: of this pass. */
static bool
settle_another(const td_rpass *pass) {
  for (td_rthread *thread = threads; thread; thread = thread->next) {
    if (thread->ended.pass != pass) continue;
    settle(thread);
    return true;
  }
  return false;
}

/* Tasks that no hook shows */

static void
emit_captures(const td_rpass *pass, const td_rtask *task) {
  for (uint32_t i = task->first_capture; task->n_captures > 0 && i < pass->n_outputs; i++)
    if (pass->outputs[i].node == task->node->id)
      TD_EMIT(capture, .node = task->node->id, .graph_task = pass->graph_task,
              .input_nr = pass->outputs[i].input_nr, .output_nr = i);
}

static bool
is_silent(const td_rentry *entry) {
  td_rtask *task = td_rpass_find(entry->pass, entry->node);
  bool is_graph_root = entry->pass->n_roots != 1 && entry->node == entry->pass->root;
  return entry->pass->over || is_graph_root || !td_rtask_runs(entry->pass, task);
}

static void
run_graph_root(td_rpass *pass) {
  TD_EMIT(node_begin, .node = pass->root->id, .graph_task = pass->graph_task);
  TD_EMIT(node_end, .node = pass->root->id, .graph_task = pass->graph_task);
  hand_on(pass, pass->root, NULL, 0);
}

/* Pops and runs what is first in the queue, if no hook will tell of it. */
static bool
run_silent(td_rqueue *queue) {
  if (queue->n == 0 || !is_silent(&queue->heap[0])) return false;
  td_rentry entry = td_rqueue_pop(queue);
  emit_pop(queue, entry.pass, entry.node->id);
  if (entry.pass->over) {
    TD_EMIT(node_skip, .node = entry.node->id, .graph_task = entry.pass->graph_task,
            .reason = TD_skip_reason_expired);
  } else if (entry.pass->n_roots != 1 && entry.node == entry.pass->root) {
    run_graph_root(entry.pass);
  } else {
    emit_captures(entry.pass, td_rpass_find(entry.pass, entry.node));
    count_done(entry.pass);
  }
  td_rpass_unref(entry.pass);
  return true;
}

/* A node begins */

static bool
has_called(const td_rthread *thread, const td_rpass *pass) {
  for (size_t i = thread->n_calls; i-- > 0;)
    if (thread->calls[i] == pass) return true;
  return false;
}

/* How well a pass explains that the thread begins this node; 0: not at all. */
static int
likelihood(const td_rthread *thread, const td_rpass *pass, const td_rnode *node,
           int64_t engine_task) {
  const td_rtask *task = td_rpass_find(pass, node);
  if (!task || task->begun) return 0;
  if (engine_task >= 0 && pass->engine_task == engine_task) return 100;
  if (engine_task >= 0 && pass->engine_task >= 0) return 0;
  if (thread->n_calls > 0 && thread->calls[thread->n_calls - 1] == pass) return 50;
  int result = has_called(thread, pass) ? 30 : 10;
  return result + (task->pushed || task->node == pass->root ? 5 : 0) + (pass->depth > 0);
}

static td_rpass *
find_pass(const td_rthread *thread, const td_rnode *node, int64_t engine_task) {
  td_rpass *best = NULL;
  int best_likelihood = 0;
  for (size_t i = n_passes; i-- > 0;) {
    int now = likelihood(thread, passes[i], node, engine_task);
    if (now <= best_likelihood) continue;
    best = passes[i];
    best_likelihood = now;
  }
  if (best) best->engine_task = engine_task;
  return best;
}

/* A thread that was not seen before works for a pass: on a device, or in the pool. */
static void
adopt(td_rthread *thread, td_rpass *pass, const td_rtask *task) {
  td_rqueue *queue = queue_for(pass, task);
  queue->server = thread;
  if (thread->queue) return;
  thread->queue = queue;
  thread->is_device = queue->device != TD_DEVICE_CPU;
  if (thread->is_device) {
    char *name = td_format("pt_autograd_%d", queue->device);
    td_emit_name_thread(name, queue->device);
    free(name);
  } else {
    td_emit_name_thread("pt_autograd_pool", TD_DEVICE_CPU);
    TD_EMIT(pool_thread_new, .id = thread->id);
  }
}

/* Brings the node to the queue's top by what must have happened unseen. */
static void
bring_up(td_rpass *pass, const td_rtask *task, td_rqueue *queue) {
  td_rnode *node = task->node;
  uint32_t index = (uint32_t)(task - pass->tasks);
  while (!pass->lost) {
    bool is_first = queue->n > 0 && queue->heap[0].pass == pass && queue->heap[0].node == node;
    if (is_first) return;
    if (run_silent(queue)) continue;
    if (pass->tasks[index].pushed || !settle_another(pass)) return;
  }
}

static void
pop(td_rpass *pass, td_rtask *task, td_rqueue *queue) {
  bool is_first = queue->n > 0 && queue->heap[0].pass == pass && queue->heap[0].node == task->node;
  if (is_first) {
    td_rqueue_pop(queue);
  } else if (td_rqueue_take(queue, pass, task->node)) {
    if (options.queues_known && !pass->disordered)
      TD_EMIT(mark, .text = td_intern("a pop was seen that is not the queue's first: a push by "
                                      "another thread came after it"));
    pass->disordered = true;
  } else {
    return give_up(pass, "a node began that waited for more");
  }
  emit_pop(queue, pass, task->node->id);
  td_rpass_unref(pass);
}

static void
note_running(td_rthread *thread, td_rpass *pass, td_rnode *node) {
  TD_GROW(thread->running, thread->n_running, thread->running_capacity);
  thread->running[thread->n_running++] = (td_running){pass, node};
}

static uint32_t
begin(td_rthread *thread, td_rnode *node, int64_t engine_task) {
  td_rpass *pass = find_pass(thread, node, engine_task);
  settle(thread);
  if (!pass) return TD_NONE;
  announce_for_caller(pass);
  td_rtask *task = td_rpass_find(pass, node);
  adopt(thread, pass, task);
  if (!pass->lost) {
    td_rqueue *queue = queue_for(pass, task);
    bring_up(pass, task, queue);
    if (!pass->lost) pop(pass, task, queue);
  }
  task->begun = true;
  if (!pass->lost) emit_captures(pass, task);
  note_running(thread, pass, node);
  TD_EMIT(node_begin, .node = node->id, .graph_task = pass->graph_task);
  return pass->graph_task;
}

uint32_t
td_reconstruct_begin(uint32_t id, int64_t engine_task) {
  pthread_mutex_lock(&mutex);
  td_rthread *thread = thread_now();
  td_rnode *node = td_rnode_find(id);
  uint32_t graph_task = node ? begin(thread, node, engine_task) : TD_NONE;
  pthread_mutex_unlock(&mutex);
  return graph_task;
}

/* A node ends */

static void
keep_gradients(td_rthread *thread, const td_seen_gradient *gradients, uint32_t n) {
  thread->gradients = td_realloc(thread->gradients, n + 1, sizeof *gradients);
  for (uint32_t i = 0; i < n; i++)
    thread->gradients[i] = gradients[i];
  thread->n_gradients = n;
}

void
td_reconstruct_end(uint32_t id, const td_seen_gradient *gradients, uint32_t n) {
  pthread_mutex_lock(&mutex);
  td_rthread *thread = thread_now();
  size_t at = thread->n_running;
  while (at > 0 && thread->running[at - 1].node->id != id)
    at--;
  if (at > 0) {
    settle(thread);
    td_running ended = thread->running[at - 1];
    thread->n_running = at - 1;
    TD_EMIT(node_end, .node = id, .graph_task = ended.pass->graph_task);
    ended.pass->refs++;
    thread->ended = ended;
    keep_gradients(thread, gradients, n);
  }
  pthread_mutex_unlock(&mutex);
}

/* A call of backward */

static bool
goes_to_pool(const td_rthread *thread) {
  uint32_t n_nested = 0;
  for (size_t i = 0; i < thread->n_calls; i++)
    n_nested += thread->calls[i]->outer && !thread->calls[i]->in_pool;
  return n_nested >= MAX_DEPTH;
}

uint32_t
td_reconstruct_pass_begin(const td_seen_pass *seen) {
  pthread_mutex_lock(&mutex);
  td_rthread *thread = thread_now();
  settle(thread);
  td_rpass *pass = td_rpass_new(seen);
  if (thread->n_running > 0) {
    td_running *outer = &thread->running[thread->n_running - 1];
    pass->outer = outer->pass;
    pass->outer_node = outer->node;
    pass->depth = outer->pass->depth + 1;
    pass->in_pool = goes_to_pool(thread);
  }
  if (!thread->queue) thread->queue = make_queue(TD_DEVICE_CPU, thread->id);
  pass->queue = thread->queue;
  pass->owner = thread->id;
  pass->number = n_calls++;
  TD_GROW(passes, n_passes, passes_capacity);
  passes[n_passes++] = pass;
  TD_GROW(thread->calls, thread->n_calls, thread->calls_capacity);
  thread->calls[thread->n_calls++] = pass;
  pthread_mutex_unlock(&mutex);
  return pass->number;
}

/* A pass ends */

/* All that is left happened unseen, on whoever serves the queue. */
static void
finish(td_rpass *pass) {
  for (bool more = true; more && !pass->lost;) {
    more = settle_another(pass);
    for (size_t i = 0; i < n_queues && !more && !pass->lost; i++) {
      td_rqueue *queue = queues[i];
      if (queue->n == 0 || queue->heap[0].pass != pass) continue;
      td_ring *own = queue->server ? speak_for(queue->server) : td_emit_ring;
      more = run_silent(queue);
      speak_for_self(own);
    }
  }
  if (!pass->lost && pass->outstanding > 0) give_up(pass, "it ended well with tasks outstanding");
}

static td_running *
find_failed(const td_rpass *pass, td_rthread *thread) {
  for (size_t i = thread->n_running; i-- > 0;)
    if (thread->running[i].pass == pass) return &thread->running[i];
  return thread->ended.pass == pass ? &thread->ended : NULL;
}

static void
emit_error(const td_rpass *pass, const char *words) {
  td_running *failed = find_failed(pass, own_thread);
  for (td_rthread *thread = threads; thread && !failed; thread = thread->next)
    failed = find_failed(pass, thread);
  TD_EMIT(error, .node = failed ? failed->node->id : TD_NONE, .graph_task = pass->graph_task,
          .text = td_intern(words));
}

/* Nothing of a pass that is over goes on: what began will not end, what ended hands nothing on. */
static void
abandon(td_rpass *pass) {
  for (td_rthread *thread = threads; thread; thread = thread->next) {
    size_t n = 0;
    for (size_t i = 0; i < thread->n_running; i++)
      if (thread->running[i].pass != pass) thread->running[n++] = thread->running[i];
    thread->n_running = n;
    if (thread->ended.pass != pass) continue;
    thread->ended = (td_running){0};
    td_rpass_unref(pass);
  }
}

/* The owner sleeps until the thread that did the last task wakes it. */
static void
wake_owner(td_rpass *pass, const td_rthread *last) {
  td_rqueue *queue = pass->queue;
  if (!last || !options.queues_known || pass->lost) return;
  td_ring *own = speak_for(last);
  TD_EMIT(queue_wake, .queue = queue->id, .graph_task = pass->graph_task,
          .size = (uint32_t)queue->n + 1);
  speak_for_self(own);
  TD_EMIT(queue_pop, .queue = queue->id, .node = TD_NONE, .graph_task = pass->graph_task,
          .size = (uint32_t)queue->n, .waited = 0);
  TD_EMIT(outstanding, .graph_task = pass->graph_task, .value = 0);
}

/* The device thread that still has to hand on, if any: it did the last task. */
static const td_rthread *
last_on_a_device(const td_rpass *pass) {
  for (td_rthread *thread = threads; thread; thread = thread->next)
    if (thread->ended.pass == pass && thread != own_thread && thread->is_device) return thread;
  return NULL;
}

static void
end_well(td_rpass *pass) {
  announce(pass);
  const td_rthread *last = last_on_a_device(pass);
  finish(pass);
  wake_owner(pass, last);
}

static void
end_pass(td_rthread *thread, td_rpass *pass, const char *error) {
  if (error) {
    if (pass->graph_task != TD_NONE) emit_error(pass, error);
    abandon(pass);
  } else {
    settle(thread);
    end_well(pass);
    abandon(pass);
  }
  if (pass->graph_task == TD_NONE) return;
  TD_EMIT(graph_task_end, .graph_task = pass->graph_task,
          .status = error ? TD_task_status_error : TD_task_status_ok);
  if (pass->outer)
    TD_EMIT(reentrant_leave, .graph_task = pass->graph_task, .outer = pass->outer->graph_task,
            .node = pass->outer_node->id, .depth = pass->depth);
  if (pass->n_roots != 1) TD_EMIT(node_free, .node = pass->root->id);
}

static void
forget(td_rthread *thread, td_rpass *pass, size_t at) {
  for (size_t i = thread->n_calls; i-- > 0;)
    if (thread->calls[i] == pass) thread->calls[i] = thread->calls[--thread->n_calls];
  passes[at] = passes[--n_passes];
  pass->over = true;
  td_rpass_unref(pass);
}

void
td_reconstruct_pass_end(uint32_t number, const char *error) {
  pthread_mutex_lock(&mutex);
  td_rthread *thread = thread_now();
  for (size_t i = 0; i < n_passes; i++) {
    if (passes[i]->number != number) continue;
    td_rpass *pass = passes[i];
    end_pass(thread, pass, error);
    forget(thread, pass, i);
    break;
  }
  pthread_mutex_unlock(&mutex);
}

/* Nodes, and the beginning */

uint32_t
td_reconstruct_node(const td_seen_node *seen) {
  pthread_mutex_lock(&mutex);
  thread_now();
  td_rnode *node = td_rnode_add(seen);
  emit_node(node, seen->name, seen->stack);
  pthread_mutex_unlock(&mutex);
  return node->id;
}

void
td_reconstruct_node_free(uint32_t node) {
  pthread_mutex_lock(&mutex);
  thread_now();
  TD_EMIT(node_free, .node = node);
  td_rnode_drop(node);
  pthread_mutex_unlock(&mutex);
}

/* What an earlier recording, or the parent of this fork, had under way is left: threads may be in
 * it. */
void
td_reconstruct_start(td_reconstruct_options wanted) {
  pthread_mutex_init(&mutex, NULL);
  options = wanted;
  threads = NULL;
  passes = NULL;
  queues = NULL;
  n_passes = passes_capacity = n_queues = queues_capacity = 0;
  n_graph_tasks = n_calls = 0;
  n_recordings++;
  td_rnode_forget_all();
}
