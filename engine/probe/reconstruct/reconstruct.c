/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Reconstruction]
 * Problem: hooks see the graph, the calls of backward, and on which thread each node begins and
 * ends. Queues, counts and buffers happen between these moments, unseen.
 *
 * What happens there follows by the engine's rules (engine/rules). A node that ended hands its
 * gradients on. Counts fall. A task whose count reaches zero enters the queue of its device. The
 * thread pops the task that it begins next. One moment does not follow: when a thread hands on. It
 * is after the node's end. It is before the thread's next event, and before the begin of a node
 * that needed the gradient.
 *
 * Trick: that moment goes on the tape as late as possible. The thread itself emits it at its next
 * event. Another thread may begin a node earlier that only this gradient can have made ready. Then
 * the events come just before that begin, under the number of the thread that handed on. The lock
 * of this file guards every thread's ring, so nobody else writes there.
 *
 * Some tasks call no hook: the GraphRoot, a node that is only captured, tasks of a pass that
 * failed. They are popped when the queue's order says so, which is just before what hooks see next.
 * If a thread begins a node that waits for more, the rules do not explain the program. The pass is
 * given up with a mark on the tape, and only begins and ends follow. If a thread begins a ready
 * node that is not first, another thread's push came too early on the tape. The seen order stands,
 * with a mark.
 */
#include "engine/probe/reconstruct/reconstruct.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/events/emit.h"
#include "engine/probe/reconstruct/progress.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static td_rpass **passes; /* (owned references) under way */
static size_t n_passes, passes_capacity;
static uint32_t n_calls;

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&mutex, TD_FORK_RECONSTRUCT);
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
adopt(td_rthread *thread, const td_rtask *task) {
  td_rqueue *queue = td_rqueue_for(task);
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
bring_up(const td_rtask *task, td_rqueue *queue) {
  const td_rpass *pass = task->pass;
  while (!pass->lost) {
    if (td_rqueue_first(queue) == task) return;
    if (td_progress_run_silent(queue)) continue;
    if (task->pushed || !td_progress_settle_another(pass)) return;
  }
}

static void
pop(const td_rtask *task, td_rqueue *queue) {
  td_rpass *pass = task->pass;
  if (td_rqueue_first(queue) == task) {
    td_rqueue_pop(queue);
  } else if (td_rqueue_take(queue, task)) {
    if (td_rqueues_known() && !pass->disordered)
      TD_EMIT(mark, .text = td_intern("a pop was seen that is not the queue's first: a push by "
                                      "another thread came after it"));
    pass->disordered = true;
  } else {
    return td_progress_give_up(pass, "a node began that waited for more");
  }
  td_rqueue_emit_pop(queue, task);
  td_rpass_unref(pass);
}

/* A root, or one of several under the GraphRoot. */
static bool
is_root_of(const td_rpass *pass, const td_rnode *node) {
  if (pass->n_roots == 1) return node == pass->root;
  for (uint32_t i = 0; i < pass->root->n_edges; i++)
    if (pass->root->edges[i].node == node->id) return true;
  return false;
}

static uint32_t
begin(td_rthread *thread, td_rnode *node, int64_t engine_task, bool *is_root) {
  td_rpass *pass = find_pass(thread, node, engine_task);
  td_progress_settle(thread);
  if (!pass) return TD_NONE;
  *is_root = is_root_of(pass, node);
  td_progress_announce_for_owner(pass);
  td_rtask *task = td_rpass_find(pass, node);
  adopt(thread, task);
  if (!pass->lost) {
    td_rqueue *queue = td_rqueue_for(task);
    bring_up(task, queue);
    if (!pass->lost) pop(task, queue);
  }
  task->begun = true;
  if (!pass->lost) td_progress_capture(pass, task);
  td_rthread_note_running(thread, pass, node);
  TD_EMIT(node_begin, .node = node->id, .graph_task = pass->graph_task);
  return pass->graph_task;
}

uint32_t
td_reconstruct_begin(uint32_t id, int64_t engine_task, bool *is_root) {
  *is_root = false;
  pthread_mutex_lock(&mutex);
  td_rthread *thread = td_rthread_now();
  td_rnode *node = td_rnode_find(id);
  uint32_t graph_task = node ? begin(thread, node, engine_task, is_root) : TD_NONE;
  pthread_mutex_unlock(&mutex);
  return graph_task;
}

/* A node ends */

void
td_reconstruct_end(uint32_t id, const td_seen_gradient *gradients, uint32_t n) {
  pthread_mutex_lock(&mutex);
  td_rthread *thread = td_rthread_now();
  size_t at = thread->n_running;
  while (at > 0 && thread->running[at - 1].node->id != id)
    at--;
  if (at > 0) {
    td_progress_settle(thread);
    td_running ended = thread->running[at - 1];
    thread->n_running = at - 1;
    TD_EMIT(node_end, .node = id, .graph_task = ended.pass->graph_task);
    td_rthread_note_ended(thread, ended, gradients, n);
  }
  pthread_mutex_unlock(&mutex);
}

/* A call of backward */

static bool
goes_to_pool(const td_rthread *thread) {
  uint32_t n_nested = 0;
  for (size_t i = 0; i < thread->n_calls; i++)
    n_nested += thread->calls[i]->outer && !thread->calls[i]->in_pool;
  return n_nested >= TD_MAX_DEPTH;
}

uint32_t
td_reconstruct_pass_begin(const td_seen_pass *seen) {
  pthread_mutex_lock(&mutex);
  td_rthread *thread = td_rthread_now();
  td_progress_settle(thread);
  td_rpass *pass = td_rpass_new(seen);
  if (thread->n_running > 0) {
    td_running *outer = &thread->running[thread->n_running - 1];
    pass->outer = outer->pass;
    pass->outer_node = outer->node;
    pass->depth = outer->pass->depth + 1;
    pass->in_pool = goes_to_pool(thread);
  }
  if (!thread->queue) thread->queue = td_rqueue_new(TD_DEVICE_CPU, thread->id);
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
    more = td_progress_settle_another(pass);
    td_rqueue *queue;
    for (size_t i = 0; !more && !pass->lost && (queue = td_rqueue_at(i)); i++) {
      const td_rtask *first = td_rqueue_first(queue);
      if (!first || first->pass != pass) continue;
      td_ring *own = queue->server ? td_rthread_speak_for(queue->server) : td_emit_ring;
      more = td_progress_run_silent(queue);
      td_rthread_speak_for_self(own);
    }
  }
  if (!pass->lost && pass->outstanding > 0)
    td_progress_give_up(pass, "it ended well with tasks outstanding");
}

static td_running *
find_failed(const td_rpass *pass, td_rthread *thread) {
  for (size_t i = thread->n_running; i-- > 0;)
    if (thread->running[i].pass == pass) return &thread->running[i];
  return thread->ended.pass == pass ? &thread->ended : NULL;
}

static void
emit_error(td_rthread *self, const td_rpass *pass, const char *words) {
  td_running *failed = find_failed(pass, self);
  for (td_rthread *thread = td_rthreads_first(); thread && !failed; thread = thread->next)
    failed = find_failed(pass, thread);
  TD_EMIT(error, .node = failed ? failed->node->id : TD_NONE, .graph_task = pass->graph_task,
          .text = td_intern(words));
}

/* Nothing of a pass that is over goes on: what began will not end, what ended hands nothing on. */
static void
abandon(td_rpass *pass) {
  for (td_rthread *thread = td_rthreads_first(); thread; thread = thread->next) {
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
  if (!last || !td_rqueues_known() || pass->lost) return;
  td_ring *own = td_rthread_speak_for(last);
  TD_EMIT(queue_wake, .queue = queue->id, .graph_task = pass->graph_task,
          .size = (uint32_t)queue->tasks.n + 1);
  td_rthread_speak_for_self(own);
  TD_EMIT(queue_pop, .queue = queue->id, .node = TD_NONE, .graph_task = pass->graph_task,
          .size = (uint32_t)queue->tasks.n, .waited = 0);
  TD_EMIT(outstanding, .graph_task = pass->graph_task, .value = 0);
}

/* The device thread that still has to hand on, if any: it did the last task. */
static const td_rthread *
last_on_a_device(const td_rthread *self, const td_rpass *pass) {
  for (td_rthread *thread = td_rthreads_first(); thread; thread = thread->next)
    if (thread->ended.pass == pass && thread != self && thread->is_device) return thread;
  return NULL;
}

static void
end_well(const td_rthread *self, td_rpass *pass) {
  td_progress_announce(pass);
  const td_rthread *last = last_on_a_device(self, pass);
  finish(pass);
  wake_owner(pass, last);
}

static void
end_pass(td_rthread *thread, td_rpass *pass, const char *error) {
  if (error) {
    if (pass->graph_task != TD_NONE) emit_error(thread, pass, error);
    abandon(pass);
  } else {
    td_progress_settle(thread);
    end_well(thread, pass);
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
  td_rqueues_expire(pass);
  td_rpass_unref(pass);
}

uint32_t
td_reconstruct_pass_end(uint32_t number, const char *error) {
  uint32_t graph_task = TD_NONE;
  pthread_mutex_lock(&mutex);
  td_rthread *thread = td_rthread_now();
  for (size_t i = 0; i < n_passes; i++) {
    if (passes[i]->number != number) continue;
    td_rpass *pass = passes[i];
    end_pass(thread, pass, error);
    graph_task = pass->graph_task;
    forget(thread, pass, i);
    break;
  }
  pthread_mutex_unlock(&mutex);
  return graph_task;
}

/* Nodes, and the beginning */

uint32_t
td_reconstruct_node(const td_seen_node *seen) {
  pthread_mutex_lock(&mutex);
  td_rthread_now();
  td_rnode *node = td_rnode_add(seen);
  td_rnode_emit(node, seen->name, seen->stack);
  pthread_mutex_unlock(&mutex);
  return node->id;
}

void
td_reconstruct_node_free(uint32_t node) {
  pthread_mutex_lock(&mutex);
  td_rthread_now();
  TD_EMIT(node_free, .node = node);
  td_rnode_drop(node);
  pthread_mutex_unlock(&mutex);
}

/* What an earlier recording, or the parent of this fork, had under way is left: threads may be in
 * it. */
void
td_reconstruct_start(td_reconstruct_options options) {
  passes = NULL;
  n_passes = passes_capacity = 0;
  n_calls = 0;
  td_rthreads_start();
  td_rqueues_start(options.queues_known);
  td_progress_start(options.sums_in_place);
  td_rnode_forget_all();
}
