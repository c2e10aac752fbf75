/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_words.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/quiz/question_queue.h"
#include "engine/profile/why/story.h"
#include "engine/profile/why/why.h"
#include "engine/profile/words.h"

#include <inttypes.h>
#include <string.h>

/* A text that grows, about the moment of a question. */
typedef struct telling {
  td_replay *replay;
  uint64_t back; /* where the replay was */
  td_story story;
  char *text;
  size_t size;
} telling;

static bool
begin(telling *self, td_replay *replay, const td_question *question) {
  *self = (telling){.replay = replay, .back = td_replay_position(replay)};
  if (td_replay_seek(replay, question->position, NULL) != TD_OK) return false;
  if (td_story_open(&self->story, replay, &self->text, &self->size, NULL) == TD_OK) return true;
  td_replay_seek(replay, self->back, NULL);
  return false;
}

static char *
end(telling *self) {
  td_story_close(&self->story);
  td_replay_seek(self->replay, self->back, NULL);
  return self->text;
}

/* ---- the question ---- */

/* %s is the node, the queue or the thread that a question is about. */
static const char *const prompts[TD_N_QUESTION_KINDS] = {
    [TD_QUESTION_POP] = TD_N("Which node will be popped next from %s?"),
    [TD_QUESTION_COUNT] = TD_N("How many gradients does %s still wait for?"),
    [TD_QUESTION_THREAD] = TD_N("Which thread will run %s?"),
    [TD_QUESTION_QUEUE] = TD_N("Which ready queue will %s enter?"),
    [TD_QUESTION_ORDER] = TD_N("Nothing else enters %s. In which order will its tasks be popped?"),
    [TD_QUESTION_POLICY] = TD_N("Which order of the ready queue pops %s next?"),
    [TD_QUESTION_BITS] = TD_N("Which float32 is the next gradient of %s? Its bit pattern counts."),
};

static char *
subject(const td_catalog *catalog, const td_question *question) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  if (question->node != TD_NONE)
    td_words_node(out, catalog, question->node);
  else
    td_words_queue(out, catalog, question->queue);
  fclose(out);
  return text;
}

char *
td_question_prompt(td_replay *replay, const td_question *question) {
  char *about = subject(td_replay_catalog(replay), question);
  char *text = td_format(td_translate(prompts[question->kind]), about);
  free(about);
  return text;
}

/* ---- choices ---- */

static const char *const orders[TD_queue_order_LIMIT] = {
    [TD_queue_order_heap] = TD_N("the engine's: deeper pass first, then higher sequence_nr"),
    [TD_queue_order_fifo] = TD_N("first in, first out"),
    [TD_queue_order_lifo] = TD_N("last in, first out"),
};

static void
write_choice(FILE *out, const td_catalog *catalog, const td_question *question, uint64_t choice) {
  switch (question->kind) {
  case TD_QUESTION_THREAD:
    td_words_thread(out, catalog, (uint32_t)choice);
    break;
  case TD_QUESTION_QUEUE:
    td_words_queue(out, catalog, (uint32_t)choice);
    break;
  case TD_QUESTION_POLICY:
    fputs(td_translate(orders[choice]), out);
    break;
  case TD_QUESTION_COUNT:
    fprintf(out, "%" PRIu64, choice);
    break;
  case TD_QUESTION_BITS: {
    uint32_t bits = (uint32_t)choice;
    float value;
    memcpy(&value, &bits, sizeof value);
    fprintf(out, "0x%08" PRIx32 " (%.9g)", bits, (double)value);
    break;
  }
  default:
    td_words_node(out, catalog, (uint32_t)choice);
  }
}

char *
td_question_choice(const td_replay *replay, const td_question *question, uint64_t choice) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  write_choice(out, td_replay_catalog(replay), question, choice);
  fclose(out);
  return text;
}

char *
td_question_answer(const td_replay *replay, const td_question *question) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  for (uint32_t i = 0; i < question->n_key; i++) {
    if (i) fputs(", ", out);
    write_choice(out, td_replay_catalog(replay), question, question->key[i]);
  }
  fclose(out);
  return text;
}

/* ---- facts ---- */

/* A queue may hold tasks of other passes too. */
static const td_task_now *
find_task(const td_story *story, const td_question *question, uint32_t node) {
  const td_task_now *task = td_state_task_find(story->state, node, question->graph_task);
  return task ? task : td_state_task_find(story->state, node, TD_NONE);
}

/* A task that lies in the queue or waits, with what decides its place. */
static void
write_candidate(const td_story *story, const td_question *question, uint32_t node) {
  const td_task_now *task = find_task(story, question, node);
  const td_catalog_node *facts = td_catalog_node_get(story->catalog, node);
  td_words_node(story->out, story->catalog, node);
  fputs(": sequence_nr ", story->out);
  td_words_number(story->out, facts->sequence_nr);
  uint32_t depth = task ? td_catalog_depth(story->catalog, task->graph_task) : 0;
  if (depth) fprintf(story->out, td_translate(", depth %u"), depth);
  if (task && task->dependencies)
    fprintf(story->out, td_translate(", waits for %u of %u"), task->dependencies, task->expected);
  else
    fputs(td_translate(", ready"), story->out);
  putc('\n', story->out);
}

static const char *
role_of(const td_story *story, uint32_t from, uint32_t graph_task) {
  const td_node_now *now = td_state_node(story->state, from);
  bool took_part = now->graph_task == graph_task && now->state != TD_NODE_created;
  return took_part ? td_node_state_name((td_node_state)now->state)
                   : TD_N("takes no part in this pass");
}

/* Each edge to the node is a gradient, if its sender takes part. */
static void
write_edges(const td_story *story, const td_question *question) {
  const td_catalog *catalog = story->catalog;
  const td_catalog_node *node = td_catalog_node_get(catalog, question->node);
  uint32_t shown = TD_MIN(node->n_in, TD_QUESTION_CHOICES);
  for (uint32_t i = 0; i < shown; i++) {
    uint32_t from = catalog->edges[catalog->in_edges[node->first_in + i]].from;
    fputs(td_translate("edge from "), story->out);
    td_words_node(story->out, catalog, from);
    fprintf(story->out, ": %s\n", td_translate(role_of(story, from, question->graph_task)));
  }
  if (node->n_in > shown)
    fprintf(story->out, td_translate("and %u more edges\n"), node->n_in - shown);
}

/* In the order in which they entered, which decides nothing in a heap. */
static void
write_entries(const td_story *story, const td_question *question) {
  uint32_t n = td_state_queue(story->state, question->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, question->queue, entries);
  for (uint32_t told = 0; told < TD_MIN(n, TD_QUESTION_CHOICES); told++) {
    uint32_t at = td_question_first_under(TD_queue_order_fifo, entries, n - told);
    if (entries[at].node != TD_NONE) write_candidate(story, question, entries[at].node);
    memmove(entries + at, entries + at + 1, (n - told - 1 - at) * sizeof *entries);
  }
  free(entries);
}

static void
write_place(const td_story *story, const td_question *question) {
  const td_catalog *catalog = story->catalog;
  int32_t device = td_catalog_node_get(catalog, question->node)->device;
  fprintf(story->out, td_translate("device %s"), td_catalog_device_label(catalog, device));
  fprintf(story->out, td_translate(", depth %u"), td_catalog_depth(catalog, question->graph_task));
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, question->graph_task);
  if (pass) {
    fputs(td_translate(", backward was called on "), story->out);
    td_words_thread(story->out, catalog, pass->owner);
  }
  putc('\n', story->out);
}

static void
write_stats_place(const telling *self, const td_question *question) {
  td_any_event event;
  if (td_replay_event(self->replay, question->answered, &event, NULL) != TD_OK) return;
  const td_event_tensor_stats *stats = &event.tensor_stats;
  const char *place = td_enum_word(TD_FIELD_ENUM_stats_place, stats->place);
  fprintf(self->story.out, "%s %u\n", td_translate(place), stats->number);
}

char *
td_question_facts(td_replay *replay, const td_question *question) {
  telling telling;
  if (!begin(&telling, replay, question)) return td_dup_string("");
  const td_story *story = &telling.story;
  if (question->kind == TD_QUESTION_POP || question->kind == TD_QUESTION_ORDER)
    for (uint32_t i = 0; i < question->n_choices; i++)
      write_candidate(story, question, (uint32_t)question->choices[i]);
  if (question->kind == TD_QUESTION_COUNT) write_edges(story, question);
  if (question->kind == TD_QUESTION_POLICY) write_entries(story, question);
  if (question->kind == TD_QUESTION_THREAD || question->kind == TD_QUESTION_QUEUE)
    write_place(story, question);
  if (question->kind == TD_QUESTION_BITS) write_stats_place(&telling, question);
  return end(&telling);
}

/* ---- why ---- */

static void
take_text(FILE *out, char *text) {
  if (text) fputs(text, out);
  free(text);
}

static void
write_event(const telling *self, uint64_t seq) {
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
  const td_task_now *task = find_task(story, question, question->node);
  if (!task) return;
  fprintf(story->out, td_translate(" In this pass: %u expected, %u come."), task->expected,
          task->expected - task->dependencies);
}

/* Which task each order would pop. */
static void
write_firsts(const td_story *story, const td_question *question) {
  uint32_t n = td_state_queue(story->state, question->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, question->queue, entries);
  for (uint32_t order = 0; order < TD_queue_order_LIMIT; order++) {
    const td_queue_entry *first =
        &entries[td_question_first_under((td_queue_order)order, entries, n)];
    if (order) putc(' ', story->out);
    fprintf(story->out, td_translate("The order “%s” pops "), td_translate(orders[order]));
    td_story_entry(story, first);
    fputs(td_translate("."), story->out);
  }
  free(entries);
}

static void
write_reason(telling *self, const td_question *question) {
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
    write_firsts(&self->story, question);
    break;
  default:
    write_event(self, question->answered);
    if (question->kind == TD_QUESTION_THREAD) write_rule_of_thread(&self->story, question);
  }
}

char *
td_question_reason(td_replay *replay, const td_question *question) {
  telling telling;
  if (!begin(&telling, replay, question)) return td_dup_string("");
  write_reason(&telling, question);
  return end(&telling);
}

/* ---- what a wrong answer would need ---- */

static void
write_need_in_heap(const td_story *story, const td_question *question, uint32_t node) {
  uint32_t first = (uint32_t)question->key[0];
  const td_task_now *task = find_task(story, question, node);
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
correct_pop(const telling *self, const td_question *question, uint32_t node) {
  const td_task_now *task = find_task(&self->story, question, node);
  take_text(self->story.out, td_why_wait(self->replay, node));
  if (!task) return;
  if (task->dependencies)
    fputs(td_translate(" It can enter the queue only after they have come."), self->story.out);
  else if (task->queue == question->queue)
    write_need_of_place(&self->story, question, node);
}

static void
correct_count(const td_story *story, const td_question *question, uint64_t count) {
  const td_task_now *task = find_task(story, question, question->node);
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
  telling telling;
  if (n != 1 || td_question_is_right(question, answer, n)) return td_dup_string("");
  if (!begin(&telling, replay, question)) return td_dup_string("");
  if (question->kind == TD_QUESTION_POP && is_choice(question, *answer))
    correct_pop(&telling, question, (uint32_t)*answer);
  if (question->kind == TD_QUESTION_COUNT) correct_count(&telling.story, question, *answer);
  return end(&telling);
}
