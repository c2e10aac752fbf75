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

static const td_sentence prompts[TD_N_QUESTION_KINDS] = {
    [TD_QUESTION_POP] = TD_SAY_ask_pop,       [TD_QUESTION_COUNT] = TD_SAY_ask_count,
    [TD_QUESTION_THREAD] = TD_SAY_ask_thread, [TD_QUESTION_QUEUE] = TD_SAY_ask_queue,
    [TD_QUESTION_ORDER] = TD_SAY_ask_order,   [TD_QUESTION_POLICY] = TD_SAY_ask_policy,
    [TD_QUESTION_BITS] = TD_SAY_ask_bits,
};

char *
td_question_prompt(td_replay *replay, const td_question *question) {
  td_blank about = question->node != TD_NONE ? td_with_node("about", question->node)
                                             : td_with_queue("about", question->queue);
  return td_said(td_replay_catalog(replay), prompts[question->kind], about);
}

/* ---- choices ---- */

static const td_sentence orders[TD_queue_order_LIMIT] = {
    [TD_queue_order_heap] = TD_SAY_order_heap,
    [TD_queue_order_fifo] = TD_SAY_order_fifo,
    [TD_queue_order_lifo] = TD_SAY_order_lifo,
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
    fputs(td_sentence_text(orders[choice]), out);
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

/* Takes the text. */
static void
write_line(const td_story *story, char *text) {
  fprintf(story->out, "%s\n", text);
  free(text);
}

/* A task that lies in the queue or waits, with what decides its place. */
static void
write_candidate(const td_story *story, const td_question *question, uint32_t node) {
  const td_task_now *task = td_telling_find_task(story, question, node);
  const td_catalog_node *facts = td_catalog_node_get(story->catalog, node);
  uint32_t depth = task ? td_catalog_depth(story->catalog, task->graph_task) : 0;
  uint32_t left = task ? task->dependencies : 0;
  td_sentence ready = depth ? TD_SAY_fact_ready_deep : TD_SAY_fact_ready;
  td_sentence waits = depth ? TD_SAY_fact_waits_deep : TD_SAY_fact_waits;
  write_line(story, td_said(story->catalog, left ? waits : ready, td_with_node("node", node),
                            td_with_number("number", facts->sequence_nr),
                            td_with_number("depth", depth), td_with_number("left", left),
                            td_with_number("all", task ? task->expected : 0)));
}

static const char *
role_of(const td_story *story, uint32_t from, uint32_t graph_task) {
  td_pair_now pair = td_state_pair(story->state, from, graph_task);
  uint32_t state = pair.state, settled = state == TD_NODE_released ? pair.before : state;
  bool took_part = settled != TD_NODE_created && settled != TD_NODE_absent;
  return took_part ? td_translate(td_node_state_name((td_node_state)state))
                   : td_sentence_text(TD_SAY_no_part);
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
  uint32_t state = td_state_pair(story->state, from, question->graph_task).state;
  bool is_missing = take_missing(missing, from);
  td_sentence sentence = TD_SAY_edge;
  if (state == TD_NODE_done && is_missing) sentence = TD_SAY_edge_sent;
  if (state == TD_NODE_running && !is_missing) sentence = TD_SAY_edge_come;
  write_line(story, td_said(story->catalog, sentence, td_with_node("node", from),
                            td_with_text("state", role_of(story, from, question->graph_task))));
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
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, question->graph_task);
  write_line(story,
             td_said(catalog, pass ? TD_SAY_fact_place_called : TD_SAY_fact_place,
                     td_with_text("device", td_catalog_device_label(catalog, device)),
                     td_with_number("depth", td_catalog_depth(catalog, question->graph_task)),
                     td_with_thread("thread", pass ? pass->owner : TD_NONE)));
}

static const td_sentence stats_places[TD_stats_place_LIMIT] = {
    [TD_stats_place_input] = TD_SAY_stats_input,
    [TD_stats_place_output] = TD_SAY_stats_output,
    [TD_stats_place_leaf] = TD_SAY_stats_leaf,
};

static void
write_stats_place(const td_telling *self, const td_question *question) {
  td_any_event event;
  if (td_replay_event(self->replay, question->answered, &event, NULL) != TD_OK) return;
  const td_event_tensor_stats *stats = &event.tensor_stats;
  if (stats->place >= TD_stats_place_LIMIT) return;
  write_line(&self->story, td_said(self->story.catalog, stats_places[stats->place],
                                   td_with_number("number", stats->number)));
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
