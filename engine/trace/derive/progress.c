/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/derive/progress.h"

#include "engine/base/alloc.h"

static void
count_done(td_derivation *self, uint32_t thread, td_rpass *pass) {
  pass->outstanding--;
  TD_DERIVE(self, thread, outstanding, .graph_task = pass->graph_task, .value = pass->outstanding);
}

/* ---- a pass begins ---- */

static void
derive_dependencies(td_derivation *self, uint32_t thread, const td_rpass *pass) {
  for (uint32_t i = 0; i < pass->n_tasks; i++)
    if (pass->tasks[i].counted)
      TD_DERIVE(self, thread, dependency, .graph_task = pass->graph_task,
                .node = pass->tasks[i].node->id, .count = pass->tasks[i].dependencies);
}

static void
derive_exec_info(td_derivation *self, uint32_t thread, const td_rpass *pass) {
  for (uint32_t i = 0; i < pass->n_tasks; i++)
    TD_DERIVE(self, thread, exec_info, .graph_task = pass->graph_task,
              .node = pass->tasks[i].node->id, .needed = pass->tasks[i].needed,
              .captures = pass->tasks[i].n_captures);
}

/* A call with several roots gives them to the GraphRoot, which hands them on. */
static void
push_root(td_derivation *self, uint32_t thread, td_rpass *pass) {
  td_rtask *root = td_rpass_find(pass, pass->root);
  if (!td_rpass_has_graph_root(pass)) {
    const td_rroot *given = &pass->roots[0];
    root->device = given->gradient.device;
    root->buffered = true;
    root->filled = given->input_nr < 64 ? UINT64_C(1) << given->input_nr : 0;
    TD_DERIVE(self, thread, buffer_add, .node = root->node->id, .graph_task = pass->graph_task,
              .input_nr = given->input_nr, .from = TD_NONE, .mode = TD_accumulation_move,
              .bytes = given->gradient.bytes);
  }
  td_rqueue_push(self, thread, root, TD_push_reason_root);
}

void
td_progress_begin(td_derivation *self, uint32_t thread, td_rpass *pass) {
  pass->known = true;
  if (self->is_damaged)
    return td_progress_give_up(self, thread, pass, "parts of the tape are missing");
  if (!td_rpass_count(self, pass))
    return td_progress_give_up(self, thread, pass,
                               self->n_left ? "a part of its graph is not on the tape"
                                            : "the tape would become too long");
  derive_dependencies(self, thread, pass);
  if (pass->selective) derive_exec_info(self, thread, pass);
  push_root(self, thread, pass);
}

/* What was seen does not follow from the rules. */
void
td_progress_give_up(td_derivation *self, uint32_t thread, td_rpass *pass, const char *why) {
  if (pass->lost) return;
  char *text = td_format("graph task %u is reconstructed up to here: %s", pass->graph_task, why);
  uint32_t number = td_derived_text(self, thread, text);
  TD_DERIVE(self, thread, mark, .text = number);
  free(text);
  pass->lost = true;
  td_rqueues_forget_pass(self, pass);
}

/* ---- what a node that ended does with its gradients ---- */

static td_accumulation
mode_of(const td_derivation *self, const td_rpass *pass, bool is_defined, bool sums) {
  if (!is_defined) return TD_accumulation_undefined;
  if (!sums) return TD_accumulation_move;
  return self->sums_in_place && !pass->create_graph ? TD_accumulation_in_place
                                                    : TD_accumulation_out_of_place;
}

static void
add_to_buffer(td_derivation *self, uint32_t thread, td_rpass *pass, td_rtask *task,
              uint32_t input_nr, const td_rnode *from, const td_rgradient *gradient) {
  uint64_t input = input_nr < 64 ? UINT64_C(1) << input_nr : 0;
  TD_DERIVE(self, thread, buffer_add, .node = task->node->id, .graph_task = pass->graph_task,
            .input_nr = input_nr, .from = from->id,
            .mode = mode_of(self, pass, gradient->defined, task->filled & input),
            .bytes = gradient->bytes);
  if (!gradient->defined) return;
  task->filled |= input;
  if (task->device == TD_DEVICE_CPU) task->device = gradient->device;
}

static void
hand_on_one(td_derivation *self, uint32_t thread, td_rpass *pass, const td_rnode *from,
            const td_redge *edge, const td_rgradient *gradient) {
  td_rtask *task = td_rpass_find(pass, edge->node);
  if (!task || !task->counted || task->dependencies == 0)
    return td_progress_give_up(self, thread, pass,
                               "a gradient came to a node that waited for none");
  uint32_t node = task->node->id;
  task->dependencies--;
  TD_DERIVE(self, thread, dependency_dec, .node = node, .graph_task = pass->graph_task,
            .left = task->dependencies, .by = from->id);
  bool is_ready = task->dependencies == 0, was_buffered = task->buffered;
  if (!was_buffered) {
    if (!td_rtask_wanted(pass, task)) return;
    TD_DERIVE(self, thread, buffer_new, .node = node, .graph_task = pass->graph_task);
  }
  add_to_buffer(self, thread, pass, task, edge->input_nr, from, gradient);
  task->buffered = true;
  if (is_ready) {
    TD_DERIVE(self, thread, buffer_ready, .node = node, .graph_task = pass->graph_task);
    td_rqueue_push(self, thread, task, TD_push_reason_ready);
  } else if (!was_buffered) {
    TD_DERIVE(self, thread, buffer_park, .node = node, .graph_task = pass->graph_task);
  }
}

/* Edges and gradients are both in the order of the outputs. An output without a gradient is not
 * defined. */
static void
hand_on(td_derivation *self, uint32_t thread, td_rpass *pass, const td_rnode *node,
        const td_rgradient *gradients, uint32_t n) {
  static const td_rgradient undefined = {.device = TD_DEVICE_CPU};
  uint32_t at = 0;
  for (uint32_t i = 0; i < node->n_edges && !pass->lost; i++) {
    const td_redge *edge = &node->edges[i];
    while (at < n && gradients[at].number < edge->output_nr)
      at++;
    bool is_there = at < n && gradients[at].number == edge->output_nr;
    hand_on_one(self, thread, pass, node, edge, is_there ? &gradients[at] : &undefined);
  }
  if (!pass->lost) count_done(self, thread, pass);
}

/* A thread's last node hands on, if it has not yet: told by that thread. */
void
td_progress_settle(td_derivation *self, td_rthread *thread) {
  td_running ended = td_rthread_take_ended(thread);
  if (!ended.pass) return;
  if (!ended.pass->lost)
    hand_on(self, thread->id, ended.pass, ended.node, thread->gradients, thread->n_gradients);
  td_rpass_unref(self, ended.pass);
}

/* One other thread's, if there is one: of this pass. */
bool
td_progress_settle_another(td_derivation *self, const td_rpass *pass) {
  for (uint32_t i = 0; i < self->n_threads && pass->n_working > 0; i++) {
    td_rthread *thread = self->threads[i];
    if (!thread || thread->ended.pass != pass) continue;
    td_progress_settle(self, thread);
    return true;
  }
  return false;
}

/* ---- tasks that no hook shows ---- */

void
td_progress_capture(td_derivation *self, uint32_t thread, const td_rpass *pass,
                    const td_rtask *task) {
  uint32_t node = task->node->id;
  for (uint32_t i = task->first_capture; task->n_captures > 0 && i < pass->n_outputs_seen; i++)
    if (pass->outputs[i].node == node)
      TD_DERIVE(self, thread, capture, .node = node, .graph_task = pass->graph_task,
                .input_nr = pass->outputs[i].input_nr, .output_nr = pass->outputs[i].output_nr);
}

static bool
is_graph_root(const td_rtask *task) {
  return td_rpass_has_graph_root(task->pass) && task->node->id == task->pass->root;
}

static bool
is_silent(const td_rtask *task) {
  return task->pass->over || is_graph_root(task) || !td_rtask_runs(task->pass, task);
}

static td_rgradient *
given_to_roots(const td_rpass *pass) {
  td_rgradient *given = TD_NEW_N(td_rgradient, pass->n_roots_seen + 1);
  for (uint32_t i = 0; i < pass->n_roots_seen; i++)
    given[i] = pass->roots[i].gradient;
  return given;
}

static void
run_graph_root(td_derivation *self, uint32_t thread, td_rpass *pass, const td_rnode *root) {
  td_rgradient *given = given_to_roots(pass);
  TD_DERIVE(self, thread, node_begin, .node = root->id, .graph_task = pass->graph_task);
  TD_DERIVE(self, thread, node_end, .node = root->id, .graph_task = pass->graph_task);
  hand_on(self, thread, pass, root, given, pass->n_roots_seen);
  free(given);
}

bool
td_progress_run_silent(td_derivation *self, uint32_t thread, td_rqueue *queue) {
  td_rtask *task = td_rqueue_first(queue);
  if (!task || !is_silent(task)) return false;
  td_rpass *pass = task->pass;
  td_rqueue_pop(queue);
  td_rqueue_derive_pop(self, thread, queue, task);
  if (pass->over) {
    TD_DERIVE(self, thread, node_skip, .node = task->node->id, .graph_task = pass->graph_task,
              .reason = TD_skip_reason_expired);
  } else if (is_graph_root(task)) {
    run_graph_root(self, thread, pass, task->node);
  } else {
    td_progress_capture(self, thread, pass, task);
    count_done(self, thread, pass);
  }
  td_rpass_unref(self, pass);
  return true;
}
