/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_reasons.h"

#include "engine/base/alloc.h"
#include "engine/profile/quiz/question_queue.h"
#include "engine/profile/quiz/question_words.h"
#include "engine/profile/quiz/telling.h"
#include "engine/profile/why/why.h"

static void
say_event(const td_telling *self, uint64_t seq) {
  td_any_event event;
  if (td_replay_event(self->replay, seq, &event, NULL) != TD_OK) return;
  char *what = td_why_describe(self->story.catalog, td_replay_tape(self->replay), &event);
  td_story_say(&self->story, TD_SAY_stop, td_with_text("clause", what));
  free(what);
}

static void
say_rule_of_thread(const td_story *story, const td_question *question) {
  int32_t device = td_catalog_node_get(story->catalog, question->node)->device;
  uint32_t runner = (uint32_t)question->key[0];
  td_sentence rule = device == TD_DEVICE_CPU ? TD_SAY_cpu_runs : TD_SAY_device_runs;
  td_say_plain(story->out, story->catalog->threads[runner].in_pool ? TD_SAY_too_deep : rule);
}

static void
say_counts(const td_story *story, const td_question *question) {
  const td_task_now *task = td_telling_find_task(story, question, question->node);
  if (!task) return;
  td_story_say(story, TD_SAY_counts, td_with_number("expected", task->expected),
               td_with_number("come", task->expected - task->dependencies));
}

/* Which task each order would pop. */
static void
say_firsts(const td_telling *self, const td_question *question) {
  const td_story *story = &self->story;
  uint32_t n = td_state_queue(story->state, question->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, question->queue, entries);
  for (uint32_t order = 0; order < TD_queue_order_LIMIT; order++) {
    char *words = td_question_choice(self->replay, question, order);
    char *task =
        td_story_entry(story, &entries[td_question_first_under((td_queue_order)order, entries, n)]);
    td_story_say(story, TD_SAY_order_pops, td_with_text("order", words),
                 td_with_text("task", task));
    free(words);
    free(task);
  }
  free(entries);
}

static void
say_reason(td_telling *self, const td_question *question) {
  char *text = NULL;
  switch (question->kind) {
  case TD_QUESTION_POP:
    if (td_why_pop(self->replay, question->answered, &text, NULL) == TD_OK)
      td_say_text(self->story.out, text);
    break;
  case TD_QUESTION_COUNT:
    td_say_text(self->story.out, td_why_wait(self->replay, question->node, question->graph_task));
    say_counts(&self->story, question);
    break;
  case TD_QUESTION_ORDER:
    for (uint32_t i = 1; i < question->n_key; i++)
      td_say_text(self->story.out, td_why_wait(self->replay, (uint32_t)question->key[i], TD_NONE));
    break;
  case TD_QUESTION_POLICY:
    say_firsts(self, question);
    break;
  default:
    say_event(self, question->answered);
    if (question->kind == TD_QUESTION_THREAD) say_rule_of_thread(&self->story, question);
  }
}

char *
td_question_reason(td_replay *replay, const td_question *question) {
  td_telling telling;
  if (!td_telling_begin(&telling, replay, question)) return td_dup_string("");
  say_reason(&telling, question);
  return td_telling_end(&telling);
}

/* ---- what a wrong answer would need ---- */

static void
say_need_in_heap(const td_story *story, const td_question *question, uint32_t node) {
  uint32_t first = (uint32_t)question->key[0];
  const td_task_now *task = td_telling_find_task(story, question, node);
  uint32_t depth = td_catalog_depth(story->catalog, task->graph_task);
  uint64_t highest = td_catalog_node_get(story->catalog, first)->sequence_nr;
  uint64_t mine = td_catalog_node_get(story->catalog, node)->sequence_nr;
  td_sentence sentence = TD_SAY_if_higher;
  if (depth < td_catalog_depth(story->catalog, question->graph_task))
    sentence = TD_SAY_if_deeper;
  else if (mine == highest)
    sentence = TD_SAY_if_not_tied;
  else if (highest == UINT64_MAX)
    sentence = TD_SAY_if_none_highest;
  td_story_say(story, sentence, td_with_number("number", highest),
               td_with_node_again("node", first));
}

static void
say_need_of_place(const td_story *story, const td_question *question, uint32_t node) {
  td_queue_order order = story->catalog->queues[question->queue].order;
  if (order == TD_queue_order_heap)
    say_need_in_heap(story, question, node);
  else
    td_say_plain(story->out, order == TD_queue_order_fifo ? TD_SAY_if_earlier : TD_SAY_if_later);
}

static void
correct_pop(const td_telling *self, const td_question *question, uint32_t node) {
  const td_task_now *task = td_telling_find_task(&self->story, question, node);
  td_say_text(self->story.out,
              td_why_wait(self->replay, node, task ? task->graph_task : question->graph_task));
  if (!task) return;
  if (task->dependencies)
    td_say_plain(self->story.out, TD_SAY_if_come);
  else if (task->queue == question->queue)
    say_need_of_place(&self->story, question, node);
}

static void
correct_count(const td_story *story, const td_question *question, uint64_t count) {
  const td_task_now *task = td_telling_find_task(story, question, question->node);
  if (!task) return;
  if (count == task->expected && count > task->dependencies)
    td_say_plain(story->out, TD_SAY_count_at_begin);
  else if (count == td_catalog_node_get(story->catalog, question->node)->n_in)
    td_say_plain(story->out, TD_SAY_count_of_edges);
}

static bool
is_choice(const td_question *question, uint64_t value) {
  for (uint32_t i = 0; i < question->n_choices; i++)
    if (question->choices[i] == value) return true;
  return false;
}

char *
td_question_correction(td_replay *replay, const td_question *question, const uint64_t *answer,
                       uint32_t n) {
  td_telling telling;
  if (n != 1 || td_question_is_right(question, answer, n)) return td_dup_string("");
  if (!td_telling_begin(&telling, replay, question)) return td_dup_string("");
  if (question->kind == TD_QUESTION_POP && is_choice(question, *answer))
    correct_pop(&telling, question, (uint32_t)*answer);
  if (question->kind == TD_QUESTION_COUNT) correct_count(&telling.story, question, *answer);
  return td_telling_end(&telling);
}
