/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/reconstruct/progress.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"

static bool sums_in_place;
static uint32_t n_graph_tasks;

void
td_progress_start(bool in_place) {
  sums_in_place = in_place;
  n_graph_tasks = 0;
}

static void
count_done(td_rpass *pass) {
  pass->outstanding--;
  TD_EMIT(outstanding, .graph_task = pass->graph_task, .value = pass->outstanding);
}

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
  td_rqueue_push(root, TD_push_reason_root);
}

/* The first that shows that the engine took the call. Speaks for the thread that called. */
void
td_progress_announce(td_rpass *pass) {
  if (pass->graph_task != TD_NONE) return;
  pass->graph_task = n_graph_tasks++;
  if (pass->n_roots != 1) td_rnode_emit(pass->root, "GraphRoot", 0);
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

void
td_progress_announce_for_owner(td_rpass *pass) {
  for (td_rthread *thread = td_rthreads_first(); thread; thread = thread->next) {
    if (thread->id != pass->owner) continue;
    td_ring *own = td_rthread_speak_for(thread);
    td_progress_announce(pass);
    td_rthread_speak_for_self(own);
    return;
  }
  td_progress_announce(pass);
}

/* What was seen does not follow from the rules. */
void
td_progress_give_up(td_rpass *pass, const char *why) {
  if (pass->lost) return;
  char *text = td_format("graph task %u is reconstructed up to here: %s", pass->graph_task, why);
  TD_EMIT(mark, .text = td_intern(text));
  free(text);
  pass->lost = true;
  td_rqueues_forget_pass(pass);
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
    mode = sums_in_place && !pass->create_graph ? TD_accumulation_in_place
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
    return td_progress_give_up(pass, "a gradient came to a node that waited for none");
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
    td_rqueue_push(task, TD_push_reason_ready);
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
void
td_progress_settle(td_rthread *thread) {
  td_running ended = thread->ended;
  if (!ended.pass) return;
  thread->ended = (td_running){0};
  td_ring *own = td_rthread_speak_for(thread);
  if (!ended.pass->lost) hand_on(ended.pass, ended.node, thread->gradients, thread->n_gradients);
  td_rthread_speak_for_self(own);
  td_rpass_unref(ended.pass);
}

/* One other thread's, if there is one: of this pass. */
bool
td_progress_settle_another(const td_rpass *pass) {
  for (td_rthread *thread = td_rthreads_first(); thread; thread = thread->next) {
    if (thread->ended.pass != pass) continue;
    td_progress_settle(thread);
    return true;
  }
  return false;
}

/* Tasks that no hook shows */

void
td_progress_capture(const td_rpass *pass, const td_rtask *task) {
  for (uint32_t i = task->first_capture; task->n_captures > 0 && i < pass->n_outputs; i++)
    if (pass->outputs[i].node == task->node->id)
      TD_EMIT(capture, .node = task->node->id, .graph_task = pass->graph_task,
              .input_nr = pass->outputs[i].input_nr, .output_nr = i);
}

static bool
is_graph_root(const td_rtask *task) {
  return task->pass->n_roots != 1 && task->node == task->pass->root;
}

static bool
is_silent(const td_rtask *task) {
  return task->pass->over || is_graph_root(task) || !td_rtask_runs(task->pass, task);
}

static void
run_graph_root(td_rpass *pass) {
  TD_EMIT(node_begin, .node = pass->root->id, .graph_task = pass->graph_task);
  TD_EMIT(node_end, .node = pass->root->id, .graph_task = pass->graph_task);
  hand_on(pass, pass->root, NULL, 0);
}

/* Pops and runs what is first in the queue, if no hook will tell of it. */
bool
td_progress_run_silent(td_rqueue *queue) {
  td_rtask *task = td_rqueue_first(queue);
  if (!task || !is_silent(task)) return false;
  td_rpass *pass = task->pass;
  td_rqueue_pop(queue);
  td_rqueue_emit_pop(queue, task);
  if (pass->over) {
    TD_EMIT(node_skip, .node = task->node->id, .graph_task = pass->graph_task,
            .reason = TD_skip_reason_expired);
  } else if (is_graph_root(task)) {
    run_graph_root(pass);
  } else {
    td_progress_capture(pass, task);
    count_done(pass);
  }
  td_rpass_unref(pass);
  return true;
}
