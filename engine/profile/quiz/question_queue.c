/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_queue.h"

#include "engine/base/alloc.h"
#include "engine/rules/task_order.h"

/* A queue of more tasks is no question for people. */
#define ORDER_MAX 6

/* A pop with fewer choices gets some that wait. */
#define FEW 4

static bool
is_chosen(const td_question *question, uint32_t node) {
  for (uint32_t i = 0; i < question->n_choices; i++)
    if (question->choices[i] == node) return true;
  return false;
}

static td_status
refuse_twice(td_error *error) {
  return td_error_set(error, TD_OUT_OF_RANGE, "a node is ready for two passes at once");
}

/* The tasks of a queue, first to last. The caller frees. */
static td_queue_entry *
entries_of(const td_replay *replay, uint32_t queue, uint32_t *n) {
  const td_state *state = td_replay_state(replay);
  *n = td_state_queue(state, queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, *n);
  td_state_queue_order(state, td_replay_catalog(replay), queue, entries);
  return entries;
}

static bool
has_nodes_once(const td_queue_entry *entries, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (entries[i].node == TD_NONE) return false;
    for (uint32_t k = 0; k < i; k++)
      if (entries[k].node == entries[i].node) return false;
  }
  return true;
}

/* The answer comes first, so that it has room. */
static void
choose(td_question *question, uint32_t node) {
  if (!is_chosen(question, node) && question->n_choices < TD_QUESTION_CHOICES)
    question->choices[question->n_choices++] = node;
}

static void
choose_parked(const td_replay *replay, td_question *question) {
  const td_state *state = td_replay_state(replay);
  uint32_t i = state->header->first_parked;
  while (i != TD_NONE && question->n_choices < TD_QUESTION_CHOICES) {
    const td_task_now *task = td_state_task(state, i);
    if (task->graph_task == question->graph_task) choose(question, task->node);
    i = task->parked_next;
  }
}

/* Nodes that got no gradient yet, if there are few other choices. */
static void
choose_waiting(const td_replay *replay, td_question *question) {
  const td_state *state = td_replay_state(replay);
  if (!td_catalog_has_graph_task(td_replay_catalog(replay), question->graph_task)) return;
  uint32_t i = td_state_graph_task(state, question->graph_task)->first_live;
  for (i = i ? i - 1 : TD_NONE; i != TD_NONE && question->n_choices < FEW;
       i = td_state_task(state, i)->pass_next)
    if (td_state_task(state, i)->dependencies) choose(question, td_state_task(state, i)->node);
}

td_status
td_question_list_candidates(td_replay *replay, td_question *question, td_error *error) {
  uint32_t n;
  if (question->queue == TD_NONE)
    return td_error_set(error, TD_OUT_OF_RANGE, "the tape does not know the queue");
  td_queue_entry *entries = entries_of(replay, question->queue, &n);
  uint32_t shown = TD_MIN(n, 4 * TD_QUESTION_CHOICES);
  bool is_clear = has_nodes_once(entries, shown);
  choose(question, (uint32_t)question->key[0]);
  for (uint32_t i = 0; i < shown && is_clear; i++)
    choose(question, entries[i].node);
  free(entries);
  if (!is_clear) return refuse_twice(error);
  choose_parked(replay, question);
  choose_waiting(replay, question);
  return TD_OK;
}

/* ---- the order of a queue ---- */

static bool
can_be_ordered(const td_catalog *catalog, const td_state *state, uint32_t queue) {
  uint32_t n = td_state_queue(state, queue)->n;
  return catalog->queues[queue].named && n >= 2 && n <= ORDER_MAX;
}

static uint32_t
longest_queue(const td_replay *replay) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_state *state = td_replay_state(replay);
  uint32_t best = TD_NONE;
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    if (can_be_ordered(catalog, state, i) &&
        (best == TD_NONE || td_state_queue(state, i)->n > td_state_queue(state, best)->n))
      best = i;
  return best;
}

td_status
td_question_list_order(td_replay *replay, td_question *question, td_error *error) {
  uint32_t n;
  question->queue = longest_queue(replay);
  if (question->queue == TD_NONE)
    return td_error_set(error, TD_OUT_OF_RANGE, "no queue has from 2 to %d tasks", ORDER_MAX);
  td_queue_entry *entries = entries_of(replay, question->queue, &n);
  bool is_clear = has_nodes_once(entries, n);
  for (uint32_t i = 0; i < n && is_clear; i++) {
    question->graph_task = entries[i].graph_task;
    choose(question, entries[i].node);
    question->key[question->n_key++] = entries[i].node;
  }
  free(entries);
  return is_clear ? TD_OK : refuse_twice(error);
}

/* ---- ties ---- */

static td_task_place
place_of(const td_catalog *catalog, const td_queue_entry *entry) {
  return (td_task_place){.depth = td_catalog_depth(catalog, entry->graph_task),
                         .sequence_nr = td_catalog_node_get(catalog, entry->node)->sequence_nr};
}

static bool
is_tie(const td_catalog *catalog, const td_queue_entry *a, const td_queue_entry *b) {
  td_task_place left = place_of(catalog, a), right = place_of(catalog, b);
  return !td_task_goes_after(left, right) && !td_task_goes_after(right, left);
}

bool
td_question_is_guess(const td_replay *replay, const td_question *question) {
  const td_catalog *catalog = td_replay_catalog(replay);
  uint32_t n;
  if (question->kind != TD_QUESTION_POP && question->kind != TD_QUESTION_ORDER) return false;
  if (catalog->queues[question->queue].order != TD_queue_order_heap) return false;
  td_queue_entry *entries = entries_of(replay, question->queue, &n);
  uint32_t decides = question->kind == TD_QUESTION_POP ? TD_MIN(n, 2) : n;
  bool is_guess = false;
  for (uint32_t i = 1; i < decides && !is_guess; i++)
    is_guess = is_tie(catalog, &entries[i - 1], &entries[i]);
  free(entries);
  return is_guess;
}

/* ---- orders of queues ---- */

uint32_t
td_question_first_under(td_queue_order order, const td_queue_entry *entries, uint32_t n) {
  uint32_t first = 0;
  for (uint32_t i = 1; order != TD_queue_order_heap && i < n; i++)
    if (td_push_goes_after(order, entries[first].order, entries[i].order)) first = i;
  return first;
}

td_status
td_question_find_policy(td_replay *replay, td_question *question, td_error *error) {
  const td_task_now *task = td_state_task_find(td_replay_state(replay), question->node, TD_NONE);
  if (!task || task->queue == TD_NONE)
    return td_error_set(error, TD_OUT_OF_RANGE, "the node lies in no queue at this moment");
  if (td_replay_catalog(replay)->queues[task->queue].order != TD_queue_order_heap)
    return td_error_set(error, TD_OUT_OF_RANGE, "the queue is no heap");
  uint32_t n;
  question->queue = task->queue;
  question->graph_task = task->graph_task;
  td_queue_entry *entries = entries_of(replay, task->queue, &n);
  if (n > TD_QUESTION_CHOICES) { /* nobody would see them all */
    free(entries);
    return td_error_set(error, TD_OUT_OF_RANGE, "the queue is too long");
  }
  uint32_t n_right = 0;
  for (uint32_t order = 0; order < TD_queue_order_LIMIT; order++)
    if (entries[td_question_first_under(order, entries, n)].node == question->node) {
      question->key[0] = order;
      n_right++;
    }
  free(entries);
  question->n_key = 1;
  return n_right == 1 ? TD_OK
                      : td_error_set(error, TD_OUT_OF_RANGE,
                                     "%u orders of queues pop this node next", n_right);
}

uint32_t
td_question_first_in(const td_replay *replay, uint32_t queue, td_queue_order order) {
  uint32_t n;
  td_queue_entry *entries = entries_of(replay, queue, &n);
  uint32_t node = n ? entries[td_question_first_under(order, entries, n)].node : TD_NONE;
  free(entries);
  return node;
}
