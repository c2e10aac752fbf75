/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/report.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/report/queue_waits.h"
#include "engine/profile/report/report_keys.h"
#include "engine/profile/report/report_sums.h"
#include "engine/profile/samples.h"
#include "engine/replay/catalog_visit.h"

#include <string.h>

/* Numbers of lives by node; others are addresses of names. */
#define BY_NODE (UINT64_C(1) << 63)

typedef struct reporting {
  const td_report_wish *wish;
  td_report *report;
  td_tape *tape;
  td_lives *lives;
  td_queue_waits queue_waits;
  const td_catalog *catalog; /* (borrowed) of the segment, as far as it is known */
  td_report_sums sums;       /* of the segment */
  td_number_map row_of_id;   /* of threads, queues ...: 1 + the row */
  td_number_map row_of_text;
  uint32_t n_passes;    /* known at the end */
  uint32_t n_wished;    /* of these, also outside of the range */
  uint64_t recorder_ns; /* of the wished passes, while no thread was at work for them */
  uint32_t *texts;      /* (owned) by row: number of the key */
  uint32_t n_texts, texts_capacity, rows_capacity;
  td_samples samples;       /* that `self` adds up; in the segment, by sum */
  size_t n_samples_before;  /* of earlier segments, by row */
  td_life_span *spans_told; /* (owned) of the segment: their names are known at its end */
  uint32_t n_spans_told, spans_capacity;
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

static uint32_t
add_sum_row(reporting *self, const td_report_sum *sum) {
  const td_life life = {.node = sum->node, .thread = sum->thread, .queue = sum->queue};
  uint32_t graph_task = td_lives_pass(self->lives, sum->pass)->graph_task;
  return add_row(self, td_report_life_key(self->wish->by, self->catalog, &life, graph_task));
}

static uint32_t
row_of_sum(reporting *self, const td_report_sum *sum) {
  if (td_report_is_of_node(self->wish->by)) return add_sum_row(self, sum);
  uint64_t *row = td_number_map_put(&self->row_of_id, sum->number);
  if (!*row) *row = 1 + (uint64_t)add_sum_row(self, sum);
  return (uint32_t)*row - 1;
}

/* ---- lives ---- */

static bool
is_wished(const reporting *self, uint32_t pass) {
  const td_report_wish *wish = self->wish;
  if (pass < wish->skip_first) return false;
  return wish->graph_task == TD_NONE ||
         td_lives_pass(self->lives, pass)->graph_task == wish->graph_task;
}

/* A function's name is known before it runs, so few sums are needed. */
static uint64_t
number_of_node(const reporting *self, uint32_t node) {
  const td_catalog_node *facts =
      self->wish->by == TD_REPORT_BY_op ? td_catalog_node_find(self->catalog, node) : NULL;
  return facts && *facts->name ? (uint64_t)(uintptr_t)facts->name : BY_NODE | node;
}

/* Which sum a life belongs to. */
static uint64_t
number_of(const reporting *self, const td_life *life) {
  switch (self->wish->by) {
  case TD_REPORT_BY_queue:
    return life->queue;
  case TD_REPORT_BY_pass:
    return life->pass;
  case TD_REPORT_BY_thread:
  case TD_REPORT_BY_rank: /* has its threads */
    return life->thread;
  default:
    return number_of_node(self, life->node);
  }
}

static bool
has_lives(const reporting *self) {
  return self->wish->by != TD_REPORT_BY_hook && self->wish->by != TD_REPORT_BY_lock;
}

static bool
is_in_range(const reporting *self, const td_life *life) {
  uint64_t ns = 0;
  if (!self->wish->range.is_set) return true;
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    ns += life->parts[part];
  return ns || td_range_has(&self->wish->range, life->begin_ns);
}

/* The waits for gradients and in queues have no share. */
static const td_wall_part wall_parts[TD_N_LIFE_PARTS] = {
    [TD_LIFE_apply] = TD_WALL_functions,      [TD_LIFE_pre_hooks] = TD_WALL_hooks,
    [TD_LIFE_post_hooks] = TD_WALL_hooks,     [TD_LIFE_lock_wait] = TD_WALL_lock_wait,
    [TD_LIFE_accumulate] = TD_WALL_hand_over, [TD_LIFE_release] = TD_WALL_hand_over,
    [TD_LIFE_push] = TD_WALL_hand_over,       [TD_LIFE_no_core] = TD_WALL_no_core};

/* Shares of the wall are of all nodes, whatever the rows are of. */
static void
add_shares(reporting *self, const td_life *life) {
  double *of_wall = self->report->of_wall;
  for (int part = TD_LIFE_lock_wait; part < TD_N_LIFE_PARTS; part++)
    of_wall[wall_parts[part]] += life->shares[part];
  of_wall[TD_WALL_recorder] += life->recorder_share;
}

static void
life_cb(const td_life *life, void *data) {
  reporting *self = data;
  if (!is_wished(self, life->pass)) return;
  add_shares(self, life);
  if (!has_lives(self) || !is_in_range(self, life)) return;
  bool begins = td_range_has(&self->wish->range, life->begin_ns);
  uint32_t sum = td_report_sums_add(&self->sums, number_of(self, life), life, begins);
  if (begins) td_samples_add(&self->samples, sum, life->parts[TD_LIFE_apply]);
}

/* Its time counts, so that the parts add up. */
static void
unfinished_cb(const td_life *life, void *data) {
  reporting *self = data;
  if (!is_wished(self, life->pass)) return;
  add_shares(self, life);
  if (has_lives(self) && is_in_range(self, life))
    td_report_sums_add(&self->sums, number_of(self, life), life, 0);
}

/* What the thread of a queue does at no node is the engine's: of no cause. */
static const td_wall_part lay_parts[TD_N_LAY_CAUSES] = {
    [TD_LAY_own_pass] = TD_WALL_no_node,
    [TD_LAY_other_pass] = TD_WALL_lay_other_pass,
    [TD_LAY_not_started] = TD_WALL_lay_not_started,
    [TD_LAY_waking] = TD_WALL_lay_waking,
    [TD_LAY_lock] = TD_WALL_lay_lock,
    [TD_LAY_gil] = TD_WALL_lay_gil,
    [TD_LAY_no_core] = TD_WALL_lay_no_core,
    [TD_LAY_engine] = TD_WALL_no_node,
    [TD_LAY_unknown] = TD_WALL_no_node};

static void
pass_cb(uint32_t pass, const double ns[TD_N_LAY_CAUSES], void *data) {
  reporting *self = data;
  for (int i = 0; i < TD_N_LAY_CAUSES && is_wished(self, pass); i++)
    self->report->of_wall[lay_parts[i]] += ns[i];
}

static void
span_cb(const td_life_span *span, void *data) {
  reporting *self = data;
  td_report_by by = span->kind == TD_EVENT_hook_begin ? TD_REPORT_BY_hook : TD_REPORT_BY_lock;
  if (self->wish->by != by || !is_wished(self, span->pass)) return;
  if (!span->ns && !td_range_has(&self->wish->range, span->begin_ns)) return;
  TD_GROW(self->spans_told, self->n_spans_told, self->spans_capacity);
  self->spans_told[self->n_spans_told++] = *span;
}

/* ---- the end of a segment ---- */

static td_status
name_sums(reporting *self, td_error *error) {
  td_report_sums *sums = &self->sums;
  uint32_t *rows = td_try_alloc(sums->n, sizeof *rows);
  if (!rows) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the report");
  for (uint32_t i = 0; i < sums->n; i++) {
    rows[i] = row_of_sum(self, &sums->sums[i]);
    td_report_row_add(&self->report->rows[rows[i]], &sums->sums[i].row);
  }
  for (size_t i = self->n_samples_before; i < self->samples.n; i++)
    self->samples.items[i].row = rows[self->samples.items[i].row];
  td_report_sums_clear(sums);
  free(rows);
  return TD_OK;
}

static void
add_span(reporting *self, const td_life_span *span) {
  bool begins = td_range_has(&self->wish->range, span->begin_ns);
  const td_report_row row = {
      .n = begins,
      .self = span->ns,
      .total = span->ns,
      .max = span->ns,
      .longest = {span->node, span->begin_seq, span->begin_ns, span->begin_ns + span->ns}};
  uint32_t number = add_row(self, td_report_span_key(self->catalog, self->tape, span));
  td_report_row_add(&self->report->rows[number], &row);
  if (begins) td_samples_add(&self->samples, number, span->ns);
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
  for (uint32_t i = 0; i < self->n_passes; i++) {
    const td_life_pass *pass = td_lives_pass(self->lives, i);
    uint64_t wall = pass->end_ns - pass->begin_ns;
    if (!is_wished(self, i)) continue;
    self->n_wished++;
    if (!wall && self->wish->range.is_set) continue;
    report->n_passes++;
    report->n_unended += !pass->has_ended;
    report->wall += wall;
    report->idle += wall - TD_MIN(wall, pass->busy_ns);
    self->recorder_ns += pass->recorder_ns;
  }
}

/* Where a thread of a queue could not take a task, that is the cause, also if the recorder worked
 * meanwhile. */
static void
set_unattributed(reporting *self) {
  td_report *report = self->report;
  double lay = 0;
  for (int i = TD_WALL_lay_other_pass; i < TD_WALL_no_node; i++)
    lay += report->of_wall[i];
  report->unattributed = report->idle - TD_MIN(report->idle, (uint64_t)(lay + 0.5));
  uint64_t recorder = TD_MIN(self->recorder_ns, report->unattributed);
  report->unattributed -= recorder;
  report->of_wall[TD_WALL_recorder] += (double)recorder;
  report->of_wall[TD_WALL_no_node] = (double)report->unattributed;
}

static void
finish(reporting *self) {
  td_report *report = self->report;
  add_passes(self);
  set_unattributed(self);
  find_percentiles(self);
  for (uint32_t i = 0; i < report->n_rows; i++)
    report->rows[i].key = td_text_table_get(&report->keys, self->texts[i]);
  if (report->n_rows) qsort(report->rows, report->n_rows, sizeof *report->rows, compare_rows);
}

/* ---- going through the tape ---- */

static void
event_cb(const td_catalog *so_far, const td_any_event *event, uint64_t seq, void *data) {
  reporting *self = data;
  self->catalog = so_far;
  td_lives_at(self->lives, seq);
  td_lives_apply(self->lives, event);
  td_range_time time = td_lives_time(self->lives);
  td_queue_waits_take(&self->queue_waits, self->lives, event, &time, true);
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  reporting *self = data;
  self->catalog = catalog;
  self->report->knows_recorder |=
      strcmp(td_catalog_setting_find(catalog, "recorder"), "timed") == 0;
  if (end == td_tape_info_get(self->tape)->n_events) {
    td_queue_waits_end(&self->queue_waits);
    self->n_passes = td_lives_end(self->lives);
  }
  td_status status = name_sums(self, error);
  for (uint32_t i = 0; i < self->n_spans_told && !status; i++)
    add_span(self, &self->spans_told[i]);
  self->n_spans_told = 0;
  self->n_samples_before = self->samples.n;
  return status;
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
  td_queue_waits_fini(&self->queue_waits);
  td_report_sums_fini(&self->sums);
  td_number_map_fini(&self->row_of_id);
  td_number_map_fini(&self->row_of_text);
  free(self->texts);
  free(self->spans_told);
  td_samples_fini(&self->samples);
}

td_status
td_report_make(td_tape *tape, const td_report_wish *wish, td_report *report, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *report = (td_report){0};
  reporting self = {.wish = wish, .report = report, .tape = tape};
  self.lives = td_lives_new(info, (td_life_listener){life_cb, unfinished_cb, span_cb, &self});
  td_lives_limit(self.lives, &wish->range);
  self.queue_waits.pass = pass_cb;
  self.queue_waits.data = &self;
  learn(report, info);
  bool kinds[TD_EVENT_LIMIT];
  td_report_key_kinds(wish->by, kinds);
  kinds[TD_EVENT_setting] = true;
  td_catalog_along along = {.listener = event_cb, .data = &self, .kinds = kinds};
  td_status status = td_catalog_visit_along(tape, &along, visit_segment, error);
  if (!status) finish(&self);
  reporting_fini(&self);
  if (!status && wish->graph_task != TD_NONE && self.n_wished == 0)
    status = td_error_set(error, TD_OUT_OF_RANGE,
                          wish->skip_first ? "no outermost pass after those left out is pass %u"
                                           : "there is no outermost pass %u",
                          wish->graph_task);
  return status;
}

static const struct {
  const char *name, *words;
} wall_names[TD_N_WALL_PARTS] = {
#define X(name, words) {#name, words},
    TD_WALL_PARTS(X)
#undef X
};

const char *
td_wall_part_name(td_wall_part part) {
  return wall_names[part].name;
}

const char *
td_wall_part_words(td_wall_part part) {
  return wall_names[part].words;
}

bool
td_report_knows_wall_part(const td_report *report, td_wall_part part) {
  static const td_life_part parts[TD_WALL_recorder] = {[TD_WALL_functions] = TD_LIFE_apply,
                                                       [TD_WALL_hand_over] = TD_LIFE_release,
                                                       [TD_WALL_hooks] = TD_LIFE_pre_hooks,
                                                       [TD_WALL_lock_wait] = TD_LIFE_lock_wait,
                                                       [TD_WALL_no_core] = TD_LIFE_no_core};
  if (part == TD_WALL_recorder) return report->knows_recorder;
  if (part == TD_WALL_no_node) return true;
  if (part == TD_WALL_lay_no_core && !report->is_known[TD_LIFE_no_core]) return false;
  return report->is_known[part < TD_WALL_recorder ? parts[part] : TD_LIFE_queue_wait];
}

bool
td_report_has_node(td_report_by by, const td_catalog *catalog, uint32_t node, const char *key) {
  if (!td_report_is_of_node(by)) return false;
  const td_life life = {.node = node};
  char *found = td_report_life_key(by, catalog, &life, TD_NONE);
  bool has = strcmp(found, key) == 0;
  free(found);
  return has;
}

void
td_report_fini(td_report *report) {
  free(report->rows);
  td_text_table_fini(&report->keys);
  *report = (td_report){0};
}

bool
td_report_has_unreturned(const td_report *report) {
  for (uint32_t i = 0; i < report->n_rows; i++)
    if (!report->rows[i].n) return true;
  return false;
}
