/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/report.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/report/report_keys.h"
#include "engine/profile/samples.h"
#include "engine/replay/catalog_visit.h"

#include <string.h>

typedef struct reporting {
  const td_report_wish *wish;
  td_report *report;
  td_tape *tape;
  td_lives *lives;
  const td_catalog *catalog; /* (borrowed) of the segment */
  uint32_t *row_of_node;     /* (owned) by row of the catalog: 1 + the report's row */
  td_number_map row_of_id;   /* of threads, queues ...: 1 + the row */
  td_number_map row_of_text;
  uint32_t *texts; /* (owned) by row: number of the key */
  uint32_t n_texts, texts_capacity, rows_capacity;
  td_samples samples; /* that `self` adds up */
} reporting;

/* ---- rows ---- */

static uint32_t
add_row(reporting *self, char *key) {
  td_report *report = self->report;
  uint32_t text = td_text_table_put(&report->keys, key, strlen(key));
  free(key);
  uint64_t *row = td_number_map_put(&self->row_of_text, text);
  if (*row) return (uint32_t)*row - 1;
  TD_GROW(report->rows, report->n_rows, self->rows_capacity);
  TD_GROW(self->texts, self->n_texts, self->texts_capacity);
  self->texts[self->n_texts++] = text;
  report->rows[report->n_rows] = (td_report_row){0};
  *row = ++report->n_rows;
  return (uint32_t)*row - 1;
}

/* What a life's group is, as a number. */
static uint64_t
group_of(td_report_by by, const td_life *life) {
  switch (by) {
  case TD_REPORT_BY_queue:
    return life->queue;
  case TD_REPORT_BY_pass:
    return life->pass;
  default:
    return life->thread; /* a rank has its threads */
  }
}

static uint32_t
add_life_row(reporting *self, const td_life *life) {
  uint32_t graph_task = td_lives_pass(self->lives, life->pass)->graph_task;
  return add_row(self, td_report_life_key(self->wish->by, self->catalog, life, graph_task));
}

static uint32_t
row_of_life(reporting *self, const td_life *life) {
  if (td_report_is_of_node(self->wish->by)) {
    uint32_t node = td_catalog_node_row(self->catalog, life->node);
    if (node == TD_NO_ROW) return add_life_row(self, life);
    uint32_t *row = &self->row_of_node[node];
    if (!*row) *row = 1 + add_life_row(self, life);
    return *row - 1;
  }
  uint64_t *row = td_number_map_put(&self->row_of_id, group_of(self->wish->by, life));
  if (!*row) *row = 1 + (uint64_t)add_life_row(self, life);
  return (uint32_t)*row - 1;
}

static void
add_sample(reporting *self, uint32_t row, uint64_t ns) {
  self->report->rows[row].n++;
  self->report->rows[row].self += ns;
  td_samples_add(&self->samples, row, ns);
}

/* ---- lives ---- */

static bool
is_wished(const reporting *self, uint32_t pass) {
  const td_report_wish *wish = self->wish;
  if (pass < wish->skip_first) return false;
  return wish->graph_task == TD_NONE ||
         td_lives_pass(self->lives, pass)->graph_task == wish->graph_task;
}

static bool
is_waiting(int part) {
  return part == TD_LIFE_dependency_wait || part == TD_LIFE_queue_wait;
}

static void
life_cb(const td_life *life, void *data) {
  reporting *self = data;
  bool is_by_span = self->wish->by == TD_REPORT_BY_hook || self->wish->by == TD_REPORT_BY_lock;
  if (is_by_span || !is_wished(self, life->pass)) return;
  uint32_t number = row_of_life(self, life);
  td_report_row *row = &self->report->rows[number];
  for (int part = 0; part < TD_N_LIFE_PARTS; part++) {
    row->parts[part] += life->parts[part];
    if (!is_waiting(part)) row->total += life->parts[part];
  }
  add_sample(self, number, life->parts[TD_LIFE_apply]);
}

static void
span_cb(const td_life_span *span, void *data) {
  reporting *self = data;
  td_report_by by = span->kind == TD_EVENT_hook_begin ? TD_REPORT_BY_hook : TD_REPORT_BY_lock;
  if (self->wish->by != by || !is_wished(self, span->pass)) return;
  uint32_t row = add_row(self, td_report_span_key(self->catalog, self->tape, span));
  self->report->rows[row].total += span->ns;
  add_sample(self, row, span->ns);
}

/* ---- the end ---- */

static void
find_percentiles(reporting *self) {
  td_samples_sort(&self->samples);
  size_t at = 0;
  for (uint32_t i = 0; i < self->report->n_rows; i++) {
    td_spread spread = td_samples_take(&self->samples, &at, i);
    td_report_row *row = &self->report->rows[i];
    row->p50 = spread.p50;
    row->p95 = spread.p95;
    row->max = spread.max;
  }
}

static int
compare_rows(const void *a, const void *b) {
  const td_report_row *left = a, *right = b;
  if (left->self != right->self) return left->self > right->self ? -1 : 1;
  if (left->total != right->total) return left->total > right->total ? -1 : 1;
  return strcmp(left->key, right->key);
}

static void
add_passes(reporting *self) {
  td_report *report = self->report;
  uint32_t n = td_lives_end(self->lives);
  for (uint32_t i = 0; i < n; i++) {
    const td_life_pass *pass = td_lives_pass(self->lives, i);
    uint64_t wall = pass->end_ns - pass->begin_ns;
    if (!is_wished(self, i)) continue;
    report->n_passes++;
    report->n_unended += !pass->has_ended;
    report->wall += wall;
    report->unattributed += wall - TD_MIN(wall, pass->busy_ns);
  }
}

static void
finish(reporting *self) {
  td_report *report = self->report;
  add_passes(self);
  find_percentiles(self);
  for (uint32_t i = 0; i < report->n_rows; i++)
    report->rows[i].key = td_text_table_get(&report->keys, self->texts[i]);
  if (report->n_rows) qsort(report->rows, report->n_rows, sizeof *report->rows, compare_rows);
}

/* ---- going through the tape ---- */

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  reporting *self = data;
  self->catalog = catalog;
  free(self->row_of_node);
  self->row_of_node = td_try_alloc(catalog->n_nodes, sizeof *self->row_of_node);
  if (!self->row_of_node) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the report");
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) td_lives_apply(self->lives, catalog, event);
  }
  td_tape_end_pass(self->tape);
  if (end == td_tape_info_get(self->tape)->n_events) finish(self);
  return td_tape_check_readable(self->tape, error);
}

static void
learn(td_report *report, const td_tape_info *info) {
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    report->is_known[part] = td_life_is_known(info, (td_life_part)part);
  report->known = info->known[TD_EVENT_node_end];
}

static void
reporting_fini(reporting *self) {
  td_lives_free(self->lives);
  free(self->row_of_node);
  td_number_map_fini(&self->row_of_id);
  td_number_map_fini(&self->row_of_text);
  free(self->texts);
  td_samples_fini(&self->samples);
}

td_status
td_report_make(td_tape *tape, const td_report_wish *wish, td_report *report, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *report = (td_report){0};
  reporting self = {.wish = wish, .report = report, .tape = tape};
  self.lives = td_lives_new(info, (td_life_listener){life_cb, span_cb, &self});
  learn(report, info);
  td_status status = td_catalog_visit(tape, 0, info->n_events, visit_segment, &self, error);
  reporting_fini(&self);
  if (!status && wish->graph_task != TD_NONE && report->n_passes == 0)
    status =
        td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", wish->graph_task);
  return status;
}

void
td_report_fini(td_report *report) {
  free(report->rows);
  td_text_table_fini(&report->keys);
  *report = (td_report){0};
}
