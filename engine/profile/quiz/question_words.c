/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_words.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/quiz/question_queue.h"
#include "engine/profile/quiz/telling.h"
#include "engine/profile/words.h"

#include <inttypes.h>
#include <string.h>

/* ---- the question ---- */

/* %s is the node, the queue or the thread that a question is about. */
static const char *const prompts[TD_N_QUESTION_KINDS] = {
    [TD_QUESTION_POP] = TD_N("Which node will be popped next from %s?"),
    [TD_QUESTION_COUNT] = TD_N("How many gradients does %s still wait for?"),
    [TD_QUESTION_THREAD] = TD_N("Which thread will run %s?"),
    [TD_QUESTION_QUEUE] = TD_N("Which ready queue will %s enter?"),
    [TD_QUESTION_ORDER] =
        TD_N("Suppose that nothing else enters %s. In which order will its tasks be popped?"),
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
    [TD_queue_order_heap] = TD_N("deeper pass first, then higher sequence_nr"),
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

/* A task that lies in the queue or waits, with what decides its place. */
static void
write_candidate(const td_story *story, const td_question *question, uint32_t node) {
  const td_task_now *task = td_telling_find_task(story, question, node);
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

static bool
take_missing(td_missing *missing, uint32_t from) {
  for (uint32_t i = 0; i < missing->n; i++)
    if (missing->senders[i].from == from && missing->senders[i].n_gradients)
      return missing->senders[i].n_gradients--;
  return false;
}

/* A node that is done may still have to send a gradient, and one that runs may have sent it. */
static void
write_edge(const td_story *story, const td_question *question, td_missing *missing, uint32_t from) {
  uint32_t state = td_state_node(story->state, from)->state;
  bool is_missing = take_missing(missing, from);
  fputs(td_translate("edge from "), story->out);
  td_words_node(story->out, story->catalog, from);
  fprintf(story->out, ": %s", td_translate(role_of(story, from, question->graph_task)));
  if (state == TD_NODE_done && is_missing) fputs(td_translate(", on its way"), story->out);
  if (state == TD_NODE_running && !is_missing)
    fputs(td_translate(", its gradient has come"), story->out);
  putc('\n', story->out);
}

/* The program may create more nodes, with edges to this one, after the moment. */
static bool
exists(const td_story *story, const td_question *question, uint32_t node) {
  uint64_t created = td_catalog_node_get(story->catalog, node)->created_seq;
  return created == UINT64_MAX || created < question->position;
}

/* Each edge to the node is a gradient, if its sender takes part. */
static void
write_edges(const td_story *story, const td_question *question) {
  const td_catalog *catalog = story->catalog;
  const td_catalog_node *node = td_catalog_node_get(catalog, question->node);
  const td_task_now *task = td_telling_find_task(story, question, question->node);
  td_missing missing = {0};
  if (task) td_missing_find(&missing, catalog, story->state, &story->senders, task);
  for (uint32_t i = 0; i < node->n_in; i++) {
    uint32_t from = catalog->edges[catalog->in_edges[node->first_in + i]].from;
    if (exists(story, question, from)) write_edge(story, question, &missing, from);
  }
  td_missing_fini(&missing);
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

/* %u is the number of an input or an output. */
static const char *const stats_places[TD_stats_place_LIMIT] = {
    [TD_stats_place_input] = TD_N("the gradient that has come at its input %u"),
    [TD_stats_place_output] = TD_N("the gradient that it hands on from its output %u"),
    [TD_stats_place_leaf] = TD_N("what its leaf then has in .grad"),
};

static void
write_stats_place(const td_telling *self, const td_question *question) {
  td_any_event event;
  if (td_replay_event(self->replay, question->answered, &event, NULL) != TD_OK) return;
  const td_event_tensor_stats *stats = &event.tensor_stats;
  if (stats->place >= TD_stats_place_LIMIT) return;
  fprintf(self->story.out, td_translate(stats_places[stats->place]), stats->number);
  putc('\n', self->story.out);
}

bool
td_question_tells_choices(const td_question *question) {
  return question->kind == TD_QUESTION_POP || question->kind == TD_QUESTION_ORDER;
}

char *
td_question_facts(td_replay *replay, const td_question *question) {
  td_telling telling;
  if (!td_telling_begin(&telling, replay, question)) return td_dup_string("");
  const td_story *story = &telling.story;
  if (td_question_tells_choices(question))
    for (uint32_t i = 0; i < question->n_choices; i++)
      write_candidate(story, question, (uint32_t)question->choices[i]);
  if (question->kind == TD_QUESTION_COUNT) write_edges(story, question);
  if (question->kind == TD_QUESTION_POLICY) write_entries(story, question);
  if (question->kind == TD_QUESTION_THREAD || question->kind == TD_QUESTION_QUEUE)
    write_place(story, question);
  if (question->kind == TD_QUESTION_BITS) write_stats_place(&telling, question);
  return td_telling_end(&telling);
}
