/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/calls.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/base/number_map.h"
#include "engine/events/emit.h"
#include "engine/probe/probe.h"
#include "engine/rules/task_order.h"

#include <pthread.h>

struct thread;

typedef struct call {
  uint32_t number;     /* what td_calls_begin returned */
  uint32_t graph_task; /* TD_NONE until the tape has it */
  int64_t engine_task; /* -1 until known */
  uint32_t depth;
  bool keep_graph, create_graph, accumulate_grad, in_pool;
  uint32_t n_roots, n_outputs;
  td_seen_edge *roots, *outputs; /* (owned) */
  td_seen_gradient *gradients;   /* (owned) [n_roots] */
  td_number_map nodes;           /* (owned) of this call: 1 once it has begun */
  uint64_t next_sequence_nr;
  uint32_t graph_root; /* the node over several roots, or TD_NONE */
  uint32_t outer;      /* the graph task whose node called, or TD_NONE */
  uint32_t outer_node;
  struct thread *caller; /* (borrowed) */
} call;

typedef struct running {
  call *call; /* (borrowed) */
  uint32_t node;
} running;

/* A thread that was seen in this recording. */
typedef struct thread {
  uint32_t id;
  uint32_t recording; /* in which the thread was seen */
  td_ring *ring;      /* (borrowed) written under the lock alone */
  running *running;   /* (owned) nodes that began and have not ended, innermost last */
  size_t n_running, running_capacity;
  call **calls; /* (owned) its calls of backward, innermost last */
  size_t n_calls, calls_capacity;
  running ended; /* its last node, until the next begins; call NULL: none */
  struct thread *next;
} thread;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static call **calls;                                      /* (owned) under way */
static size_t n_calls, calls_capacity;
static uint32_t next_call, next_graph_task, next_node;
static uint32_t *topological_nrs; /* (owned) [next_node] */
static size_t nrs_capacity;
static thread *threads; /* (owned) */
static uint32_t n_recordings;
static _Thread_local thread *own_thread; /* (borrowed) */

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&mutex, TD_FORK_CALLS);
}

static thread *
make_thread(void) {
  thread *made = TD_NEW(thread);
  *made = (thread){.next = threads, .recording = n_recordings, .id = td_emit_thread_id()};
  threads = made;
  td_probe_name_caller();
  return made;
}

/* The calling thread; a new one goes on the tape. */
static thread *
thread_now(void) {
  if (!own_thread || own_thread->recording != n_recordings) own_thread = make_thread();
  own_thread->ring = td_emit_ring;
  return own_thread;
}

/* ---- nodes ---- */

static uint32_t
topological_nr(const td_seen_edge *edges, uint32_t n) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < n; i++)
    if (edges[i].node < next_node) result = TD_MAX(result, topological_nrs[edges[i].node] + 1);
  return result;
}

static uint32_t
number_node(const td_seen_edge *edges, uint32_t n_edges) {
  uint32_t number = topological_nr(edges, n_edges);
  TD_GROW(topological_nrs, next_node, nrs_capacity);
  topological_nrs[next_node] = number;
  return next_node++;
}

static void
emit_node(uint32_t node, const td_seen_node *seen) {
  TD_EMIT(node_new, .node = node, .name = td_intern(seen->name), .sequence_nr = seen->sequence_nr,
          .topological_nr = topological_nrs[node], .device = seen->device, .stream = 0,
          .n_inputs = seen->n_inputs, .n_outputs = seen->n_edges, .stack = seen->stack);
  for (uint32_t i = 0; i < seen->n_edges; i++)
    if (seen->edges[i].node != TD_NONE)
      TD_EMIT_BORROWED(edge_new, .from = node, .output_nr = i, .to = seen->edges[i].node,
                       .input_nr = seen->edges[i].input_nr);
}

uint32_t
td_calls_add_node(const td_seen_node *seen) {
  pthread_mutex_lock(&mutex);
  thread_now();
  uint32_t node = number_node(seen->edges, seen->n_edges);
  emit_node(node, seen);
  pthread_mutex_unlock(&mutex);
  return node;
}

void
td_calls_free_node(uint32_t node) {
  pthread_mutex_lock(&mutex);
  thread_now();
  TD_EMIT(node_free, .node = node);
  pthread_mutex_unlock(&mutex);
}

/* ---- a call becomes a pass ---- */

static uint32_t
bytes_of(const td_seen_gradient *gradient) {
  return (uint32_t)TD_MIN(gradient->n_bytes, (uint64_t)UINT32_MAX);
}

static void
emit_graph_root(const call *call) {
  emit_node(call->graph_root, &(td_seen_node){.name = "GraphRoot",
                                              .sequence_nr = call->next_sequence_nr,
                                              .device = TD_DEVICE_CPU,
                                              .n_inputs = call->n_roots,
                                              .n_edges = call->n_roots,
                                              .edges = call->roots});
}

static void
emit_what_was_given(const call *call) {
  for (uint32_t i = 0; i < call->n_roots; i++)
    TD_EMIT_BORROWED(root_gradient, .graph_task = call->graph_task, .node = call->roots[i].node,
                     .input_nr = call->roots[i].input_nr, .defined = call->gradients[i].defined,
                     .device = call->gradients[i].device, .bytes = bytes_of(&call->gradients[i]));
  for (uint32_t i = 0; i < call->n_outputs; i++)
    TD_EMIT_BORROWED(wanted_output, .graph_task = call->graph_task, .output_nr = i,
                     .node = call->outputs[i].node, .input_nr = call->outputs[i].input_nr);
}

static void
emit_pass(const call *call) {
  bool is_alone = call->graph_root == TD_NONE;
  if (!is_alone) emit_graph_root(call);
  TD_EMIT(graph_task_begin, .graph_task = call->graph_task, .depth = call->depth,
          .owner = call->caller->id, .keep_graph = call->keep_graph,
          .create_graph = call->create_graph, .accumulate_grad = call->accumulate_grad,
          .root = is_alone ? call->roots[0].node : call->graph_root, .n_roots = call->n_roots,
          .n_outputs = call->n_outputs);
  if (call->outer != TD_NONE)
    TD_EMIT(reentrant_enter, .graph_task = call->graph_task, .outer = call->outer,
            .node = call->outer_node, .depth = call->depth);
  if (call->in_pool) TD_EMIT(pool_push, .graph_task = call->graph_task);
  emit_what_was_given(call);
}

/* The first that shows that the engine took the call. The events bear the number of the thread that
 * called; the lock guards its ring. */
static void
announce(call *call) {
  if (call->graph_task != TD_NONE) return;
  call->graph_task = next_graph_task++;
  td_ring *own = td_emit_ring;
  if (call->caller->ring) td_emit_ring = call->caller->ring;
  emit_pass(call);
  td_emit_ring = own;
}

/* ---- a node begins ---- */

static bool
has_called(const thread *thread, const call *call) {
  for (size_t i = thread->n_calls; i-- > 0;)
    if (thread->calls[i] == call) return true;
  return false;
}

/* How well a call explains that the thread begins this node; 0: not at all. */
static int
likelihood(const thread *thread, const call *call, uint32_t node, int64_t engine_task) {
  const uint64_t *has_begun = td_number_map_find(&call->nodes, node);
  if (!has_begun || *has_begun) return 0;
  if (engine_task >= 0 && call->engine_task == engine_task) return 100;
  if (engine_task >= 0 && call->engine_task >= 0) return 0;
  if (thread->n_calls > 0 && thread->calls[thread->n_calls - 1] == call) return 50;
  return (has_called(thread, call) ? 30 : 10) + (call->depth > 0);
}

static call *
find_call(const thread *thread, uint32_t node, int64_t engine_task) {
  call *best = NULL;
  int best_likelihood = 0;
  for (size_t i = n_calls; i-- > 0;) {
    int now = likelihood(thread, calls[i], node, engine_task);
    if (now <= best_likelihood) continue;
    best = calls[i];
    best_likelihood = now;
  }
  if (best) best->engine_task = engine_task;
  return best;
}

static bool
is_root_of(const call *call, uint32_t node) {
  for (uint32_t i = 0; i < call->n_roots; i++)
    if (call->roots[i].node == node) return true;
  return false;
}

static uint32_t
begin_node(thread *thread, call *call, uint32_t node) {
  announce(call);
  *td_number_map_find(&call->nodes, node) = 1;
  TD_GROW(thread->running, thread->n_running, thread->running_capacity);
  thread->running[thread->n_running++] = (running){call, node};
  TD_EMIT(node_begin, .node = node, .graph_task = call->graph_task);
  return call->graph_task;
}

uint32_t
td_calls_begin_node(uint32_t node, int64_t engine_task, bool *is_root) {
  pthread_mutex_lock(&mutex);
  thread *thread = thread_now();
  call *call = find_call(thread, node, engine_task);
  thread->ended = (running){0};
  uint32_t graph_task = call ? begin_node(thread, call, node) : TD_NONE;
  *is_root = call && is_root_of(call, node);
  pthread_mutex_unlock(&mutex);
  return graph_task;
}

/* ---- a node ends ---- */

static void
emit_end(const running *ended, const td_seen_gradient *gradients, uint32_t n) {
  TD_EMIT(node_end, .node = ended->node, .graph_task = ended->call->graph_task);
  for (uint32_t i = 0; i < n; i++)
    if (gradients[i].defined)
      TD_EMIT_BORROWED(node_gradient, .node = ended->node, .graph_task = ended->call->graph_task,
                       .output_nr = i, .device = gradients[i].device,
                       .bytes = bytes_of(&gradients[i]));
}

void
td_calls_end_node(uint32_t node, const td_seen_gradient *gradients, uint32_t n) {
  pthread_mutex_lock(&mutex);
  thread *thread = thread_now();
  size_t at = thread->n_running;
  while (at > 0 && thread->running[at - 1].node != node)
    at--;
  if (at > 0) {
    thread->ended = thread->running[at - 1];
    thread->n_running = at - 1;
    emit_end(&thread->ended, gradients, n);
  }
  pthread_mutex_unlock(&mutex);
}

/* ---- a call begins ---- */

static bool
goes_to_pool(const thread *thread) {
  uint32_t n_nested = 0;
  for (size_t i = 0; i < thread->n_calls; i++)
    n_nested += thread->calls[i]->outer != TD_NONE && !thread->calls[i]->in_pool;
  return n_nested >= TD_MAX_DEPTH;
}

static void *
copy_of(const void *items, size_t n, size_t size) {
  void *copy = td_alloc(n + 1, size);
  if (n) memcpy(copy, items, n * size);
  return copy;
}

static call *
make_call(const td_seen_call *seen) {
  call *made = TD_NEW(call);
  *made = (call){.graph_task = TD_NONE,
                 .engine_task = -1,
                 .keep_graph = seen->keep_graph,
                 .create_graph = seen->create_graph,
                 .accumulate_grad = seen->accumulate_grad,
                 .n_roots = seen->n_roots,
                 .n_outputs = seen->n_outputs,
                 .roots = copy_of(seen->roots, seen->n_roots, sizeof *seen->roots),
                 .outputs = copy_of(seen->outputs, seen->n_outputs, sizeof *seen->outputs),
                 .gradients = copy_of(seen->gradients, seen->n_roots, sizeof *seen->gradients),
                 .next_sequence_nr = seen->next_sequence_nr,
                 .graph_root = TD_NONE,
                 .outer = TD_NONE};
  for (size_t i = 0; i < seen->n_nodes; i++)
    td_number_map_put(&made->nodes, seen->nodes[i]);
  return made;
}

static void
free_call(call *call) {
  td_number_map_fini(&call->nodes);
  free(call->roots);
  free(call->outputs);
  free(call->gradients);
  free(call);
}

static void
enter(thread *thread, call *call) {
  if (thread->n_running > 0) {
    const running *outer = &thread->running[thread->n_running - 1];
    call->outer = outer->call->graph_task;
    call->outer_node = outer->node;
    call->depth = outer->call->depth + 1;
    call->in_pool = goes_to_pool(thread);
  }
  call->caller = thread;
  call->number = next_call++;
  if (call->n_roots != 1) call->graph_root = number_node(call->roots, call->n_roots);
  TD_GROW(calls, n_calls, calls_capacity);
  calls[n_calls++] = call;
  TD_GROW(thread->calls, thread->n_calls, thread->calls_capacity);
  thread->calls[thread->n_calls++] = call;
}

uint32_t
td_calls_begin(const td_seen_call *seen) {
  call *call = make_call(seen);
  pthread_mutex_lock(&mutex);
  thread *thread = thread_now();
  thread->ended = (running){0};
  enter(thread, call);
  uint32_t number = call->number;
  pthread_mutex_unlock(&mutex);
  return number;
}

/* ---- a call ends ---- */

static uint32_t
node_of_call(const thread *thread, const call *call) {
  for (size_t i = thread->n_running; i-- > 0;)
    if (thread->running[i].call == call) return thread->running[i].node;
  return thread->ended.call == call ? thread->ended.node : TD_NONE;
}

/* The node that runs, or that was the last to end. */
static uint32_t
find_failed(const thread *self, const call *call) {
  uint32_t failed = node_of_call(self, call);
  for (const thread *other = threads; other && failed == TD_NONE; other = other->next)
    failed = node_of_call(other, call);
  return failed;
}

/* What began will not end. */
static void
abandon(const call *call) {
  for (thread *thread = threads; thread; thread = thread->next) {
    size_t n = 0;
    for (size_t i = 0; i < thread->n_running; i++)
      if (thread->running[i].call != call) thread->running[n++] = thread->running[i];
    thread->n_running = n;
    if (thread->ended.call == call) thread->ended = (running){0};
  }
}

static void
emit_over(const thread *self, const call *call, const char *error) {
  if (error)
    TD_EMIT(error, .node = find_failed(self, call), .graph_task = call->graph_task,
            .text = td_intern(error));
  TD_EMIT(graph_task_end, .graph_task = call->graph_task,
          .status = error ? TD_task_status_error : TD_task_status_ok);
  if (call->outer != TD_NONE)
    TD_EMIT(reentrant_leave, .graph_task = call->graph_task, .outer = call->outer,
            .node = call->outer_node, .depth = call->depth);
  if (call->graph_root != TD_NONE) TD_EMIT(node_free, .node = call->graph_root);
}

static void
leave(thread *thread, size_t at) {
  call *call = calls[at];
  for (size_t i = thread->n_calls; i-- > 0;)
    if (thread->calls[i] == call) thread->calls[i] = thread->calls[--thread->n_calls];
  calls[at] = calls[--n_calls];
  abandon(call);
  free_call(call);
}

uint32_t
td_calls_end(uint32_t number, const char *error) {
  uint32_t graph_task = TD_NONE;
  pthread_mutex_lock(&mutex);
  thread *thread = thread_now();
  for (size_t i = 0; i < n_calls; i++) {
    if (calls[i]->number != number) continue;
    if (!error) announce(calls[i]);
    graph_task = calls[i]->graph_task;
    if (graph_task != TD_NONE) emit_over(thread, calls[i], error);
    leave(thread, i);
    break;
  }
  pthread_mutex_unlock(&mutex);
  return graph_task;
}

/* What an earlier recording, or the parent of this fork, had under way is left: threads may be in
 * it. */
void
td_calls_start(void) {
  calls = NULL;
  n_calls = calls_capacity = 0;
  next_call = next_graph_task = next_node = 0;
  topological_nrs = NULL;
  nrs_capacity = 0;
  threads = NULL;
  n_recordings++;
}
