/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/page.h"

#include "engine/base/alloc.h"
#include "ui/page/answers.h"
#include "ui/page/colours.h"
#include "ui/page/embed.h"
#include "ui/page/facts.h"
#include "ui/page/findings.h"
#include "ui/page/history.h"
#include "ui/page/lanes.h"
#include "ui/page/template.h"
#include "ui/page/times.h"

#include <inttypes.h>

/* So many graphs a page has. A lesson may be about any of its passes. */
#define GRAPHS 12
#define GRAPHS_OF_LESSON 100

typedef struct page {
  td_replay *replay; /* (borrowed) */
  const td_catalog *catalog;
  const td_page_lesson *lesson; /* (borrowed) or NULL */
  uint32_t graph_task, pass;    /* wished, and the outermost one around it */
  uint64_t first, end, pass_end;
  td_page_nodes nodes;
  td_page_graphs graphs;
  td_page_changes changes;
  td_page_times times;
  td_page_sentences says, whys, stacks;
  td_findings findings;
  td_answers answers;
  td_timeline *timeline; /* (owned) */
} page;

uint32_t
td_page_pass(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, graph_task);
  for (uint32_t i = 0; pass && pass->outer != TD_NONE && i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *outer = td_catalog_graph_task_find(catalog, pass->outer);
    if (!outer) break;
    pass = outer;
  }
  return pass ? pass->id : graph_task;
}

/* ---- what is left out ---- */

static void
write_left_out(const page *self, td_json *json) {
  td_json_key(json, "left_out");
  td_json_begin_array(json);
  if (self->end < self->pass_end)
    td_json_take(json, td_format("The page has the first %" PRIu64 " of %" PRIu64
                                 " events of this pass. Its times are of these.",
                                 self->end - self->first, self->pass_end - self->first));
  if (self->nodes.left_out)
    td_json_take(json, td_format("The page has the first %" PRIu32 " nodes that gradients reach.",
                                 self->nodes.n));
  if (self->graphs.n_left_out)
    td_json_take(json, td_format("%" PRIu32 " passes that ran meanwhile have no graph here.",
                                 self->graphs.n_left_out));
  if (self->says.left_out)
    td_json_take(json, td_dup_string("Later events of this pass have no sentence here."));
  if (self->whys.left_out)
    td_json_take(json, td_dup_string("Later pops of this pass have no reason here."));
  td_json_end_array(json);
}

/* ---- events ---- */

/* Of each event: ns since the one before, thread, kind, node, sentence, reason, number of words. */
static void
write_events(const page *self, td_json *json) {
  const td_page_changes *changes = &self->changes;
  td_json_key(json, "events");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < changes->n_events; i++) {
    const td_page_event *event = &changes->events[i];
    uint64_t before = i ? changes->events[i - 1].time : event->time;
    td_json_u64(json, event->time - TD_MIN(before, event->time));
    td_json_u64(json, event->thread == TD_NONE ? 0 : 1 + (uint64_t)event->thread);
    td_json_u64(json, event->kind);
    td_json_u64(json, event->node == TD_NONE ? 0 : 1 + (uint64_t)event->node);
    td_json_u64(json, event->says);
    td_json_u64(json, event->why);
    td_json_u64(json, event->n_words);
  }
  td_json_end_array(json);
  td_json_key(json, "changes");
  td_json_begin_array(json);
  for (size_t i = 0; i < changes->n_words; i++)
    td_json_i64(json, changes->words[i]);
  td_json_end_array(json);
}

static void
write_place(const page *self, td_json *json, const char *version) {
  uint64_t from = self->changes.events[0].time;
  td_json_key(json, "format");
  td_json_u64(json, 1);
  td_json_key(json, "program");
  td_json_string(json, version);
  td_json_key(json, "first");
  td_json_u64(json, self->first);
  td_json_key(json, "time");
  td_json_u64(json, from);
  td_json_key(json, "graph");
  td_json_id(json, td_page_graphs_find(&self->graphs, self->graph_task));
}

static void
write_texts(const page *self, td_json *json) {
  td_json_key(json, "says");
  td_page_sentences_write(&self->says, json);
  td_json_key(json, "whys");
  td_page_sentences_write(&self->whys, json);
  td_json_key(json, "stacks");
  td_page_sentences_write(&self->stacks, json);
}

static void
write_lesson(const page *self, td_json *json) {
  td_json_key(json, "lesson");
  if (self->lesson)
    td_page_lesson_write(self->lesson, self->replay, &self->nodes, self->first, json);
  else
    td_json_null(json);
}

/* A lesson has none: they would tell what it asks for. */
static void
write_whole_tape(const page *self, td_json *json) {
  if (self->lesson) return;
  td_json_key(json, "findings");
  td_page_findings_write(&self->findings, json);
  td_json_key(json, "answers");
  td_page_answers_write(&self->answers, json);
}

static void
write_data(page *self, const char *version, FILE *out) {
  const td_page_changes *changes = &self->changes;
  uint64_t from = changes->events[0].time, to = changes->events[changes->n_events - 1].time;
  td_json json;
  td_json_init(&json, out);
  td_json_begin_object(&json);
  write_place(self, &json, version);
  td_page_facts_write_tape(&json, self->replay);
  write_left_out(self, &json);
  write_whole_tape(self, &json);
  td_page_facts_write_words(&json);
  td_page_facts_write_kinds(&json, td_tape_info_get(td_replay_tape(self->replay)), changes);
  td_page_facts_write_nodes(&json, &self->nodes, &self->stacks);
  td_page_facts_write_threads(&json, self->catalog, changes);
  td_page_facts_write_queues(&json, self->catalog, changes);
  td_page_facts_write_passes(&json, &self->nodes, &self->graphs);
  td_json_key(&json, "graphs");
  td_page_graphs_write(&self->graphs, &json);
  td_json_key(&json, "lanes");
  td_page_lanes_write(self->timeline, &self->nodes, from, to, &json);
  td_json_key(&json, "times");
  td_page_times_write(&self->times, &json);
  write_events(self, &json);
  write_texts(self, &json);
  write_lesson(self, &json);
  td_json_end_object(&json);
}

static td_status
write_page(page *self, const char *version, FILE *out, td_error *error) {
  fputs(td_page_template_head, out);
  td_page_colours_write(out);
  fputs(td_page_template_body, out);
  FILE *safe = td_page_embed_open(out);
  if (!safe) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the page");
  write_data(self, version, safe);
  fclose(safe);
  fputs(td_page_template_tail, out);
  return TD_OK;
}

/* ---- reading ---- */

/* Of a lesson: the first step, or the first pass. */
static uint64_t
first_of_lesson(const page *self) {
  uint64_t first = UINT64_MAX;
  for (uint32_t i = 0; i < self->catalog->n_graph_tasks; i++)
    first = TD_MIN(first, self->catalog->graph_task_rows[i].begin_seq);
  for (size_t i = 0; i < self->lesson->n_steps; i++)
    first = TD_MIN(first, self->lesson->steps[i].position);
  return first;
}

static void
choose_events(page *self) {
  const td_catalog_graph_task *pass = td_catalog_graph_task_get(self->catalog, self->pass);
  uint64_t last = td_replay_end(self->replay) - 1;
  self->first = self->lesson ? first_of_lesson(self) : pass->begin_seq;
  self->pass_end = 1 + (self->lesson ? last : TD_MIN(pass->end_seq, last));
  self->end = TD_MIN(self->pass_end, self->first + TD_PAGE_EVENTS);
}

static td_status
read_pass(page *self, td_error *error) {
  td_tape *tape = td_replay_tape(self->replay);
  td_page_graphs_init(&self->graphs, &self->nodes, self->pass, self->first, self->end,
                      self->lesson ? GRAPHS_OF_LESSON : GRAPHS);
  td_status status = td_page_history_make(&self->changes, self->replay, &self->nodes, &self->graphs,
                                          &self->says, &self->whys, self->first, self->end, error);
  if (status) return status;
  status = td_page_times_make(&self->times, tape, &self->nodes, self->pass, self->first, self->end,
                              error);
  if (!status) status = td_timeline_new(tape, self->catalog, &self->timeline, error);
  if (status || self->lesson) return status;
  status = td_findings_make(tape, &self->findings, error);
  if (!status) status = td_answers_make_with(tape, &self->findings, &self->answers, error);
  return status;
}

static void
page_fini(page *self) {
  td_timeline_free(self->timeline);
  td_findings_fini(&self->findings);
  td_answers_fini(&self->answers);
  td_page_times_fini(&self->times);
  td_page_changes_fini(&self->changes);
  td_page_graphs_fini(&self->graphs);
  td_page_nodes_fini(&self->nodes);
  td_page_sentences_fini(&self->says);
  td_page_sentences_fini(&self->whys);
  td_page_sentences_fini(&self->stacks);
}

td_status
td_page_write(td_replay *replay, uint32_t graph_task, const td_page_lesson *lesson,
              const char *version, FILE *out, td_error *error) {
  const td_catalog *catalog = td_replay_catalog(replay);
  page self = {.replay = replay,
               .catalog = catalog,
               .lesson = lesson,
               .graph_task = graph_task,
               .pass = td_page_pass(catalog, graph_task),
               .nodes = {.catalog = catalog, .most = TD_PAGE_NODES},
               .says = {.most_bytes = TD_PAGE_TEXT_BYTES},
               .whys = {.most_bytes = TD_PAGE_TEXT_BYTES},
               .stacks = {.most_bytes = TD_PAGE_TEXT_BYTES}};
  choose_events(&self);
  td_status status = read_pass(&self, error);
  if (!status) status = write_page(&self, version, out, error);
  page_fini(&self);
  return status;
}
