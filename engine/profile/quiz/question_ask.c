/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_ask.h"

#include "engine/base/hash.h"
#include "engine/profile/quiz/question_queue.h"

#include <stdlib.h>
#include <string.h>

static void
set_key(td_question *question, uint64_t value) {
  question->key[0] = value;
  question->n_key = 1;
}

static void
add_choice(td_question *question, uint64_t value) {
  if (question->n_choices < TD_QUESTION_CHOICES) question->choices[question->n_choices++] = value;
}

/* ---- the event that answers ---- */

/* Which event is looked for: of a kind, about a node of a pass; TD_NONE: any. */
typedef struct look {
  td_event_kind kind;
  uint32_t node, graph_task;
} look;

static uint32_t
pass_of(const td_any_event *event) {
  switch (event->event.kind) {
  case TD_EVENT_queue_pop:
    return event->queue_pop.graph_task;
  case TD_EVENT_queue_push:
    return event->queue_push.graph_task;
  case TD_EVENT_node_begin:
    return event->node_begin.graph_task;
  default:
    return event->tensor_stats.graph_task;
  }
}

static uint32_t
node_of(const td_any_event *event) {
  switch (event->event.kind) {
  case TD_EVENT_queue_pop:
    return event->queue_pop.node;
  case TD_EVENT_queue_push:
    return event->queue_push.node;
  case TD_EVENT_node_begin:
    return event->node_begin.node;
  default:
    return event->tensor_stats.node;
  }
}

static bool
matches(const td_any_event *event, void *data) {
  const look *look = data;
  if (event->event.kind != look->kind) return false;
  uint32_t node = node_of(event);
  return node != TD_NONE && (look->node == TD_NONE || node == look->node) &&
         (look->graph_task == TD_NONE || pass_of(event) == look->graph_task);
}

/* Looks at the event that comes next too. */
static td_status
find_next(td_replay *replay, look look, uint64_t *seq, td_any_event *event, td_error *error) {
  *seq = td_replay_position(replay);
  if (td_replay_event(replay, *seq, event, NULL) == TD_OK && matches(event, &look)) return TD_OK;
  td_status status = td_replay_find(replay, *seq, true, matches, &look, seq, NULL);
  if (status == TD_OK) status = td_replay_event(replay, *seq, event, error);
  return status == TD_OK ? TD_OK
                         : td_error_set(error, TD_OUT_OF_RANGE, "no %s comes after this moment",
                                        td_event_type_get(look.kind)->name);
}

/* ---- one maker for each kind ---- */

static td_status
ask_pop(td_replay *replay, const td_question_wish *wish, td_question *question, td_error *error) {
  td_any_event event;
  look look = {TD_EVENT_queue_pop, TD_NONE, TD_NONE};
  td_status status = find_next(replay, look, &question->answered, &event, error);
  if (status != TD_OK) return status;
  const td_event_queue_pop *pop = &event.queue_pop;
  question->queue = pop->queue;
  question->graph_task = pop->graph_task;
  question->position = question->answered;
  set_key(question, pop->node);
  status = td_replay_seek(replay, question->position, error);
  if (status != TD_OK) return status;
  return td_question_list_candidates(replay, question, error);
}

static td_status
ask_count(td_replay *replay, const td_question_wish *wish, td_question *question, td_error *error) {
  const td_state *state = td_replay_state(replay);
  const td_task_now *task = td_state_task_find(state, wish->node, TD_NONE);
  if (!task || td_catalog_node_get(td_replay_catalog(replay), wish->node)->n_in == 0)
    return td_error_set(error, TD_OUT_OF_RANGE, "the node waits for nothing at this moment");
  if (td_catalog_node_get(td_replay_catalog(replay), wish->node)->n_in > TD_QUESTION_CHOICES)
    return td_error_set(error, TD_OUT_OF_RANGE, "too many edges lead to the node");
  question->graph_task = task->graph_task;
  set_key(question, task->dependencies);
  return TD_OK;
}

/* Threads that run nodes of a pass, or of passes nested in it, are told by their states alone. */
static bool
may_run(const td_catalog_thread *thread, uint32_t process) {
  return thread->named && thread->process == process;
}

static td_status
ask_thread(td_replay *replay, const td_question_wish *wish, td_question *question,
           td_error *error) {
  td_any_event event;
  look look = {TD_EVENT_node_begin, wish->node, TD_NONE};
  td_status status = find_next(replay, look, &question->answered, &event, error);
  if (status != TD_OK) return status;
  const td_catalog *catalog = td_replay_catalog(replay);
  uint32_t runner = event.event.thread;
  question->graph_task = event.node_begin.graph_task;
  set_key(question, runner);
  add_choice(question, runner);
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    if (i != runner && may_run(&catalog->threads[i], catalog->threads[runner].process))
      add_choice(question, i);
  return TD_OK;
}

static td_status
ask_queue(td_replay *replay, const td_question_wish *wish, td_question *question, td_error *error) {
  td_any_event event;
  look look = {TD_EVENT_queue_push, wish->node, TD_NONE};
  td_status status = find_next(replay, look, &question->answered, &event, error);
  if (status != TD_OK) return status;
  const td_catalog *catalog = td_replay_catalog(replay);
  if (event.queue_push.queue == TD_NONE)
    return td_error_set(error, TD_OUT_OF_RANGE, "the tape does not know the queue");
  question->graph_task = event.queue_push.graph_task;
  set_key(question, event.queue_push.queue);
  add_choice(question, event.queue_push.queue);
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    if (i != event.queue_push.queue && catalog->queues[i].named) add_choice(question, i);
  return TD_OK;
}

static td_status
ask_order(td_replay *replay, const td_question_wish *wish, td_question *question, td_error *error) {
  return td_question_list_order(replay, question, error);
}

static td_status
ask_policy(td_replay *replay, const td_question_wish *wish, td_question *question,
           td_error *error) {
  for (uint32_t order = 0; order < TD_queue_order_LIMIT; order++)
    add_choice(question, order);
  return td_question_find_policy(replay, question, error);
}

/* A float32 has one pattern, but for NaN, whose pattern the tape does not have. */
static td_status
ask_bits(td_replay *replay, const td_question_wish *wish, td_question *question, td_error *error) {
  td_any_event event;
  look look = {TD_EVENT_tensor_stats, wish->node, TD_NONE};
  td_status status = find_next(replay, look, &question->answered, &event, error);
  if (status != TD_OK) return status;
  const td_event_tensor_stats *stats = &event.tensor_stats;
  float value = (float)stats->min;
  uint32_t bits;
  question->graph_task = stats->graph_task;
  if (stats->n_elements != 1 || stats->n_nan || stats->n_inf || (double)value != stats->min)
    return td_error_set(error, TD_OUT_OF_RANGE, "the gradient is not one finite float32");
  memcpy(&bits, &value, sizeof bits);
  set_key(question, bits);
  return TD_OK;
}

typedef td_status (*maker)(td_replay *replay, const td_question_wish *wish, td_question *question,
                           td_error *error);

static const maker makers[TD_N_QUESTION_KINDS] = {
    [TD_QUESTION_POP] = ask_pop,       [TD_QUESTION_COUNT] = ask_count,
    [TD_QUESTION_THREAD] = ask_thread, [TD_QUESTION_QUEUE] = ask_queue,
    [TD_QUESTION_ORDER] = ask_order,   [TD_QUESTION_POLICY] = ask_policy,
    [TD_QUESTION_BITS] = ask_bits};

static bool
needs_node(td_question_kind kind) {
  return kind != TD_QUESTION_POP && kind != TD_QUESTION_ORDER;
}

/* A choice, and what its place follows from. */
typedef struct placed {
  uint64_t rank, value;
} placed;

static int
compare(const void *a, const void *b) {
  const placed *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/* In the order of their numbers, the node that goes first would nearly always come last: nodes that
 * are created later go first. So nodes come in an order that tells nothing, the same in each
 * recording. */
static void
sort_choices(td_question *question) {
  placed all[TD_QUESTION_CHOICES];
  for (uint32_t i = 0; i < question->n_choices; i++) {
    uint64_t value = question->choices[i];
    all[i] = (placed){needs_node(question->kind) ? value : td_hash_number(value), value};
  }
  qsort(all, question->n_choices, sizeof *all, compare);
  for (uint32_t i = 0; i < question->n_choices; i++)
    question->choices[i] = all[i].value;
}

static td_status
check_choices(td_question *question, td_error *error) {
  bool has_choices = td_question_form(question->kind) <= TD_ANSWER_order;
  if (has_choices && question->n_choices < 2)
    return td_error_set(error, TD_OUT_OF_RANGE, "there is only one possible answer");
  sort_choices(question);
  return TD_OK;
}

td_status
td_question_ask(td_replay *replay, const td_question_wish *wish, td_question *question,
                td_error *error) {
  uint64_t position = td_replay_position(replay);
  bool about_node = needs_node(wish->kind);
  if (about_node && !td_catalog_has_node(td_replay_catalog(replay), wish->node))
    return td_error_set(error, TD_OUT_OF_RANGE, "the tape has no such node");
  *question = (td_question){.kind = wish->kind,
                            .position = position,
                            .answered = TD_NO_CAUSE,
                            .node = about_node ? wish->node : TD_NONE,
                            .queue = TD_NONE,
                            .graph_task = TD_NONE};
  td_status status = makers[wish->kind](replay, wish, question, error);
  if (status == TD_OK) status = check_choices(question, error);
  td_status back = td_replay_seek(replay, position, NULL);
  return status != TD_OK ? status : back;
}
