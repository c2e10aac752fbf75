/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_cause.h"

#include "engine/base/alloc.h"
#include "engine/profile/sentence.h"
#include "engine/rules/task_order.h"

#define SENDERS_MAX 64 /* nodes in a row that are looked at for the one that is late */

const char *
td_order_cause_name(td_order_cause cause) {
  static const char *const names[] = {
#define X(name, words) #name,
      TD_ORDER_CAUSES(X)
#undef X
  };
  return names[cause];
}

const char *
td_order_cause_words(td_order_cause cause) {
  static const char *const all[] = {
#define X(name, words) words,
      TD_ORDER_CAUSES(X)
#undef X
  };
  return all[cause];
}

typedef struct asking {
  const td_order_question *question;
  FILE *out;
} asking;

#define say(self, sentence, ...)                                                                   \
  td_say((self)->out, (self)->question->catalog, sentence, __VA_ARGS__)

static uint32_t
node_at(const asking *self, uint32_t place) {
  return self->question->graph->nodes[place].node;
}

/* ---- why a thread was late ---- */

static td_order_cause
blame_callers(const asking *self, const td_scene_thread *thread, const td_scene_task *task) {
  say(self, TD_SAY_works_for, td_with_thread("thread", thread->thread),
      td_with_pass("graph_task", task->graph_task));
  return TD_ORDER_CAUSE_callers;
}

/* A task of another outermost pass, a hook or a pass inside has no time in the prediction. */
static td_order_cause
blame_task(const asking *self, const td_scene_thread *thread, const td_scene_task *task) {
  const td_pass_graph *graph = self->question->graph;
  if (task->graph_task == TD_NONE) return TD_ORDER_CAUSE_timing;
  if (td_pass_graph_find_pass(graph, task->graph_task) == TD_NONE)
    return blame_callers(self, thread, task);
  if (!task->had_inner && !task->had_hook) return TD_ORDER_CAUSE_timing;
  say(self, task->had_inner ? TD_SAY_ran_inner : TD_SAY_ran_hook, td_with_node("node", task->node),
      td_with_thread("thread", thread->thread));
  return task->had_inner ? TD_ORDER_CAUSE_reentrant : TD_ORDER_CAUSE_hook;
}

/* The outermost task of a thread that is busy, or the one that it finished last. */
static td_order_cause
blame_thread(const asking *self, const td_scene_thread *thread) {
  if (!thread) return TD_ORDER_CAUSE_timing;
  if (thread->n) return blame_task(self, thread, &thread->tasks[0]);
  if (thread->last.node == TD_NONE) return TD_ORDER_CAUSE_timing;
  return blame_task(self, thread, &thread->last);
}

/* ---- the node expected was not ready ---- */

/* A node that has to come before `to`, and did not yet. */
static uint32_t
find_sender(const asking *self, uint32_t to) {
  const td_pass_graph *graph = self->question->graph;
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    if (graph->nodes[i].pass != graph->nodes[to].pass) continue;
    if (self->question->scene->states[i] == TD_SCENE_over) continue;
    for (uint32_t k = 0; k < graph->nodes[i].n; k++)
      if (td_pass_graph_target(graph, &graph->nodes[i], k) == to) return i;
  }
  return TD_NONE;
}

/* The first one on the way to `to` that runs or could run. */
static uint32_t
find_late(const asking *self, uint32_t to) {
  uint32_t late = find_sender(self, to);
  for (int i = 0; i < SENDERS_MAX && late != TD_NONE; i++) {
    if (self->question->scene->states[late] != TD_SCENE_unready) return late;
    late = find_sender(self, late);
  }
  return late;
}

static td_order_cause
tell_late(const asking *self, uint32_t late) {
  const td_order_question *question = self->question;
  uint32_t queue = question->graph->nodes[late].queue;
  const td_scene_thread *runner = td_scene_runner(question->scene, late);
  say(self, runner ? TD_SAY_not_ready_ran : TD_SAY_not_ready_queued,
      td_with_node("node", node_at(self, question->expected)),
      td_with_node("late", node_at(self, late)),
      td_with_thread("thread", runner ? runner->thread : TD_NONE), td_with_queue("queue", queue));
  return blame_thread(self, runner ? runner : td_scene_server(question->scene, queue));
}

static td_order_cause
explain_unready(const asking *self) {
  uint32_t expected = self->question->expected, late = find_late(self, expected);
  if (late != TD_NONE) return tell_late(self, late);
  say(self, TD_SAY_not_ready_unknown, td_with_node("node", node_at(self, expected)));
  return TD_ORDER_CAUSE_unknown;
}

/* ---- both were ready ---- */

static td_task_place
place_of(const td_pass_graph *graph, uint32_t place) {
  const td_graph_node *node = &graph->nodes[place];
  return (td_task_place){.kind = TD_TASK_NODE,
                         .depth = graph->passes[node->pass].depth,
                         .sequence_nr = node->sequence_nr};
}

static td_order_cause
explain_early(const asking *self, uint32_t popped) {
  const td_order_question *question = self->question;
  say(self, TD_SAY_ready_sooner, td_with_node("node", node_at(self, popped)));
  return blame_thread(self, td_scene_thread_find(question->scene, question->pop->thread));
}

static td_order_cause
explain_tie(const asking *self) {
  bool is_shared = td_scene_is_shared(self->question->scene, self->question->pop->queue);
  td_say_plain(self->out, TD_SAY_tied);
  td_say_plain(self->out, is_shared ? TD_SAY_tied_shared : TD_SAY_tied_otherwise);
  return is_shared ? TD_ORDER_CAUSE_callers : TD_ORDER_CAUSE_tie;
}

static td_order_cause
explain_turn(const asking *self) {
  say(self, TD_SAY_goes_first, td_with_node("node", node_at(self, self->question->expected)));
  if (!self->question->blind) return TD_ORDER_CAUSE_out_of_turn;
  say(self, TD_SAY_stop, td_with_text("clause", self->question->blind));
  return TD_ORDER_CAUSE_unknown;
}

static td_order_cause
explain_choice(const asking *self, uint32_t popped) {
  const td_order_question *question = self->question;
  uint32_t queue = question->pop->queue;
  bool is_heap = queue >= question->catalog->n_queues ||
                 question->catalog->queues[queue].order == TD_queue_order_heap;
  td_task_place took = place_of(question->graph, popped);
  td_task_place other = place_of(question->graph, question->expected);
  if (!is_heap || td_task_goes_after(other, took)) return explain_early(self, popped);
  return td_task_goes_after(took, other) ? explain_turn(self) : explain_tie(self);
}

/* ---- all of it ---- */

static bool
is_needed(const td_pass_graph *graph, uint32_t place) {
  const td_graph_node *node = &graph->nodes[place];
  return !graph->passes[node->pass].is_restricted || node->is_needed ||
         graph->passes[node->pass].root == place;
}

static bool
is_renumbered(const asking *self, uint32_t place) {
  const td_order_question *question = self->question;
  return place != TD_NONE &&
         td_number_map_find(&question->scene->renumbered, question->graph->nodes[place].node);
}

static td_order_cause
explain_number(const asking *self, uint32_t place) {
  say(self, TD_SAY_number_changed, td_with_node("node", node_at(self, place)));
  return TD_ORDER_CAUSE_number;
}

/* The prediction does not have the node that was popped, or has no more nodes. */
static td_order_cause
explain_surplus(const asking *self, uint32_t popped) {
  bool is_left_out = popped != TD_NONE && !is_needed(self->question->graph, popped);
  say(self, is_left_out ? TD_SAY_not_needed : TD_SAY_not_led_to,
      td_with_node("node", self->question->pop->node));
  return is_left_out ? TD_ORDER_CAUSE_restriction : TD_ORDER_CAUSE_unknown;
}

static td_order_cause
tell_choice(const asking *self) {
  const td_order_step *pop = self->question->pop;
  say(self, pop->by == TD_chooser_schedule ? TD_SAY_schedule_chose : TD_SAY_user_chose,
      td_with_node("node", pop->node));
  return TD_ORDER_CAUSE_choice;
}

static td_order_cause
judge(const asking *self) {
  const td_order_question *question = self->question;
  uint32_t expected = question->expected;
  uint32_t popped =
      td_pass_graph_find(question->graph, question->pop->graph_task, question->pop->node);
  bool is_surplus = expected == TD_NONE || popped == TD_NONE || !is_needed(question->graph, popped);
  if (question->pop->is_chosen) return tell_choice(self);
  if (is_renumbered(self, popped)) return explain_number(self, popped);
  if (is_renumbered(self, expected)) return explain_number(self, expected);
  if (is_surplus) return explain_surplus(self, popped);
  if (question->scene->states[expected] == TD_SCENE_queued) return explain_choice(self, popped);
  return explain_unready(self);
}

td_order_cause
td_order_explain(const td_order_question *question, char **text) {
  size_t size;
  FILE *out = open_memstream(text, &size);
  if (!out) td_out_of_memory();
  const asking self = {question, out};
  td_order_cause cause = judge(&self);
  fclose(out);
  return cause;
}
