/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_reasons.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/quiz/question_queue.h"
#include "engine/profile/quiz/question_words.h"
#include "engine/profile/quiz/telling.h"
#include "engine/profile/why/why.h"
#include "engine/profile/words.h"

static void
take_text(FILE *out, char *text) {
  if (text) fputs(text, out);
  free(text);
}

static void
write_event(const td_telling *self, uint64_t seq) {
  td_any_event event;
  if (td_replay_event(self->replay, seq, &event, NULL) != TD_OK) return;
  take_text(self->story.out,
            td_why_describe(self->story.catalog, td_replay_tape(self->replay), &event));
  fputs(td_translate("."), self->story.out);
}

static void
write_rule_of_thread(const td_story *story, const td_question *question) {
  int32_t device = td_catalog_node_get(story->catalog, question->node)->device;
  uint32_t runner = (uint32_t)question->key[0];
  if (story->catalog->threads[runner].in_pool)
    fputs(td_translate(" The pass was too deep for its thread, so a thread of the pool runs it."),
          story->out);
  else if (device == TD_DEVICE_CPU)
    fputs(td_translate(" A node of the CPU runs on the thread that called backward."), story->out);
  else
    fputs(td_translate(" A node of another device runs on that device's thread."), story->out);
}

static void
write_counts(const td_story *story, const td_question *question) {
  const td_task_now *task = td_telling_find_task(story, question, question->node);
  if (!task) return;
  fprintf(story->out, td_translate(" In this pass: %u expected, %u come."), task->expected,
          task->expected - task->dependencies);
}

/* Which task each order would pop. */
static void
write_firsts(const td_telling *self, const td_question *question) {
  const td_story *story = &self->story;
  uint32_t n = td_state_queue(story->state, question->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, question->queue, entries);
  for (uint32_t order = 0; order < TD_queue_order_LIMIT; order++) {
    char *words = td_question_choice(self->replay, question, order);
    if (order) putc(' ', story->out);
    fprintf(story->out, td_translate("The order “%s” pops "), words);
    td_story_entry(story, &entries[td_question_first_under((td_queue_order)order, entries, n)]);
    fputs(td_translate("."), story->out);
    free(words);
  }
  free(entries);
}

static void
write_reason(td_telling *self, const td_question *question) {
  char *text = NULL;
  switch (question->kind) {
  case TD_QUESTION_POP:
    if (td_why_pop(self->replay, question->answered, &text, NULL) == TD_OK)
      take_text(self->story.out, text);
    break;
  case TD_QUESTION_COUNT:
    take_text(self->story.out, td_why_wait(self->replay, question->node));
    write_counts(&self->story, question);
    break;
  case TD_QUESTION_ORDER:
    for (uint32_t i = 1; i < question->n_key; i++) {
      if (i > 1) putc(' ', self->story.out);
      take_text(self->story.out, td_why_wait(self->replay, (uint32_t)question->key[i]));
    }
    break;
  case TD_QUESTION_POLICY:
    write_firsts(self, question);
    break;
  default:
    write_event(self, question->answered);
    if (question->kind == TD_QUESTION_THREAD) write_rule_of_thread(&self->story, question);
  }
}

char *
td_question_reason(td_replay *replay, const td_question *question) {
  td_telling telling;
  if (!td_telling_begin(&telling, replay, question)) return td_dup_string("");
  write_reason(&telling, question);
  return td_telling_end(&telling);
}

/* ---- what a wrong answer would need ---- */

static void
write_need_in_heap(const td_story *story, const td_question *question, uint32_t node) {
  uint32_t first = (uint32_t)question->key[0];
  const td_task_now *task = td_telling_find_task(story, question, node);
  uint32_t depth = td_catalog_depth(story->catalog, task->graph_task);
  if (depth < td_catalog_depth(story->catalog, question->graph_task)) {
    fputs(td_translate(" It would be next if its pass were nested more deeply."), story->out);
    return;
  }
  const td_catalog_node *winner = td_catalog_node_get(story->catalog, first);
  uint64_t mine = td_catalog_node_get(story->catalog, node)->sequence_nr;
  if (mine == winner->sequence_nr) {
    fputs(td_translate(" Both have the same sequence_nr, so the heap decides."), story->out);
    return;
  }
  if (winner->sequence_nr == UINT64_MAX) {
    fputs(td_translate(" It would be next if no task with the highest sequence_nr were ready."),
          story->out);
    return;
  }
  fputs(td_translate(" It would be next if its sequence_nr were higher than "), story->out);
  td_words_number(story->out, winner->sequence_nr);
  fputs(td_translate(", which is that of "), story->out);
  td_words_node_again(story->out, story->catalog, first);
  fputs(td_translate("."), story->out);
}

static void
write_need_of_place(const td_story *story, const td_question *question, uint32_t node) {
  td_queue_order order = story->catalog->queues[question->queue].order;
  if (order == TD_queue_order_heap)
    write_need_in_heap(story, question, node);
  else if (order == TD_queue_order_fifo)
    fputs(td_translate(" It would be next if it had entered the queue earlier."), story->out);
  else
    fputs(td_translate(" It would be next if it had entered the queue later."), story->out);
}

static void
correct_pop(const td_telling *self, const td_question *question, uint32_t node) {
  const td_task_now *task = td_telling_find_task(&self->story, question, node);
  take_text(self->story.out, td_why_wait(self->replay, node));
  if (!task) return;
  if (task->dependencies)
    fputs(td_translate(" It can enter the queue only after they have come."), self->story.out);
  else if (task->queue == question->queue)
    write_need_of_place(&self->story, question, node);
}

static void
correct_count(const td_story *story, const td_question *question, uint64_t count) {
  const td_task_now *task = td_telling_find_task(story, question, question->node);
  if (!task) return;
  if (count == task->expected && count > task->dependencies)
    fputs(td_translate("That was the count when the pass began. Some gradients have come since."),
          story->out);
  else if (count == td_catalog_node_get(story->catalog, question->node)->n_in)
    fputs(
        td_translate("That is the number of its edges. Only edges from nodes of this pass count."),
        story->out);
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
