/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_cause.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/words.h"
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

static void
say(const asking *self, const char *words) {
  fputs(td_translate(words), self->out);
}

static void
say_node(const asking *self, uint32_t node) {
  td_words_node(self->out, self->question->catalog, node);
}

static void
say_place(const asking *self, uint32_t place) {
  say_node(self, self->question->graph->nodes[place].node);
}

static void
say_thread(const asking *self, uint32_t thread) {
  td_words_thread(self->out, self->question->catalog, thread);
}

/* ---- why a thread was late ---- */

static td_order_cause
blame_callers(const asking *self, const td_scene_thread *thread, const td_scene_task *task) {
  say(self, " ");
  say_thread(self, thread->thread);
  say(self, TD_N(" also works for "));
  td_words_graph_task(self->out, task->graph_task);
  say(self, TD_N(", which another thread called."));
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
  say(self, " ");
  say_node(self, task->node);
  say(self, task->had_inner ? TD_N(" ran a pass inside it, on ") : TD_N(" called a hook, on "));
  say_thread(self, thread->thread);
  say(self, TD_N("."));
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
  const td_scene *scene = self->question->scene;
  uint32_t queue = self->question->graph->nodes[late].queue;
  const td_scene_thread *runner = td_scene_runner(scene, late);
  say(self, TD_N(": "));
  say_place(self, late);
  say(self, TD_N(" comes before it, and "));
  if (runner) {
    say_thread(self, runner->thread);
    say(self, TD_N(" still ran that."));
    return blame_thread(self, runner);
  }
  say(self, TD_N("was still in "));
  td_words_queue(self->out, self->question->catalog, queue);
  say(self, TD_N("."));
  return blame_thread(self, td_scene_server(scene, queue));
}

static td_order_cause
explain_unready(const asking *self) {
  const td_order_question *question = self->question;
  uint32_t late = find_late(self, question->expected);
  say_place(self, question->expected);
  say(self, TD_N(" was not ready"));
  if (late != TD_NONE) return tell_late(self, late);
  say(self, TD_N(", but the tape does not tell what it waited for."));
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
  say(self, TD_N("Both were ready, and "));
  say_place(self, popped);
  say(self, TD_N(" goes first. It was ready sooner than foreseen."));
  return blame_thread(self, td_scene_thread_find(question->scene, question->pop->thread));
}

static td_order_cause
explain_tie(const asking *self) {
  say(self,
      TD_N("Both were ready with equal sequence numbers, so their places in the heap decide. "));
  if (td_scene_is_shared(self->question->scene, self->question->pop->queue)) {
    say(self, TD_N("Tasks of another pass were in the queue too."));
    return TD_ORDER_CAUSE_callers;
  }
  say(self, TD_N("The tasks entered the queue in another order than foreseen."));
  return TD_ORDER_CAUSE_tie;
}

static td_order_cause
explain_turn(const asking *self) {
  say(self, TD_N("Both were ready, and "));
  say_place(self, self->question->expected);
  say(self, TD_N(" goes first by its sequence_nr."));
  if (!self->question->blind) return TD_ORDER_CAUSE_out_of_turn;
  fprintf(self->out, " %s.", self->question->blind);
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
  say(self, TD_N("The program changed the sequence_nr of "));
  say_place(self, place);
  say(self, TD_N(" while the pass was under way."));
  return TD_ORDER_CAUSE_number;
}

/* The prediction does not have the node that was popped, or has no more nodes. */
static td_order_cause
explain_surplus(const asking *self, uint32_t popped) {
  say_node(self, self->question->pop->node);
  if (popped != TD_NONE && !is_needed(self->question->graph, popped)) {
    say(self, TD_N(" is not needed for the gradients that the program asked for."));
    return TD_ORDER_CAUSE_restriction;
  }
  say(self, TD_N(" is not where the graph on this tape leads to."));
  return TD_ORDER_CAUSE_unknown;
}

static td_order_cause
tell_choice(const asking *self) {
  const td_order_step *pop = self->question->pop;
  say(self, pop->by == TD_chooser_schedule ? TD_N("The schedule chose ") : TD_N("The user chose "));
  say_node(self, pop->node);
  say(self, TD_N(" to be popped next."));
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
