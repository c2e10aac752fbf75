/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/diff_by.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/profile/op_name.h"
#include "engine/profile/report/lives.h"
#include "engine/profile/report/report_keys.h"
#include "engine/profile/samples.h"
#include "engine/replay/catalog_visit.h"

#include <string.h>

/* Rows of both tapes. */
typedef struct rows {
  td_report_by by;
  td_diff_by *diff;
  td_number_map numbers; /* by what a key means: 1 + the row */
  uint32_t *texts;       /* (owned) by row: number of the key */
  uint32_t n_texts, texts_capacity, capacity;
} rows;

/* One tape. */
typedef struct side {
  rows *rows;
  td_tape *tape;
  td_lives *lives;
  const td_catalog *catalog; /* (borrowed) of the segment, while it is visited; else NULL */
  uint32_t *row_of_node;     /* (owned) by row of the catalog: 1 + the row */
  td_number_map sums;        /* by pass and row: ns */
  td_number_map calls;       /* by pass and row */
  td_number_map failed;      /* graph tasks */
  uint32_t n_passes;         /* once the last segment is visited */
} side;

bool
td_diff_by_has(td_report_by by) {
  return by == TD_REPORT_BY_op || by == TD_REPORT_BY_module || by == TD_REPORT_BY_line;
}

/* ---- rows ---- */

static uint32_t
row_of_key(rows *self, char *key) {
  uint32_t text = td_text_table_put(&self->diff->keys, key, strlen(key));
  uint64_t meaning = self->by == TD_REPORT_BY_op ? td_op_name_hash(key) : text;
  free(key);
  uint64_t *row = td_number_map_put(&self->numbers, meaning);
  if (*row) return (uint32_t)*row - 1;
  td_diff_by *diff = self->diff;
  TD_GROW(diff->rows, diff->n_rows, self->capacity);
  TD_GROW(self->texts, self->n_texts, self->texts_capacity);
  self->texts[self->n_texts++] = text;
  diff->rows[diff->n_rows] = (td_diff_by_row){0};
  *row = ++diff->n_rows;
  return (uint32_t)*row - 1;
}

static uint32_t
row_of_life(side *self, const td_life *life) {
  uint32_t node = td_catalog_node_row(self->catalog, life->node);
  uint32_t *known = node == TD_NO_ROW ? NULL : &self->row_of_node[node];
  if (known && *known) return *known - 1;
  uint32_t row = row_of_key(
      self->rows, td_report_life_key(self->rows->by, self->catalog, life, life->graph_task));
  if (known) *known = 1 + row;
  return row;
}

static void
life_cb(const td_life *life, void *data) {
  side *self = data;
  uint64_t key = (uint64_t)row_of_life(self, life) << 32 | life->pass;
  *td_number_map_put(&self->sums, key) += life->parts[TD_LIFE_apply];
  ++*td_number_map_put(&self->calls, key);
}

/* ---- one tape ---- */

static bool
ended_well(const side *self, uint32_t pass) {
  const td_life_pass *facts = td_lives_pass(self->lives, pass);
  return facts->has_ended && !td_number_map_find(&self->failed, facts->graph_task);
}

static void
take_samples(const side *self, td_samples *samples, bool is_a) {
  for (uint32_t i = 0; i < self->sums.n; i++) {
    const td_number_entry *sum = &self->sums.entries[i];
    uint32_t row = (uint32_t)(sum->key >> 32);
    if (!ended_well(self, (uint32_t)sum->key)) continue;
    td_samples_add(samples, row, sum->value);
    td_diff_by_row *to = &self->rows->diff->rows[row];
    (is_a ? &to->a : &to->b)->n_calls += *td_number_map_find(&self->calls, sum->key);
  }
  td_samples_sort(samples);
}

static void
fill_in(side *self, bool is_a) {
  td_diff_by *diff = self->rows->diff;
  td_samples samples = {0};
  take_samples(self, &samples, is_a);
  size_t at = 0;
  for (uint32_t i = 0; i < diff->n_rows; i++) {
    td_spread spread = td_samples_take(&samples, &at, i);
    td_diff_by_side *to = is_a ? &diff->rows[i].a : &diff->rows[i].b;
    to->n_passes = (uint32_t)spread.n;
    to->p25 = spread.p25;
    to->p50 = spread.p50;
    to->p75 = spread.p75;
  }
  td_samples_fini(&samples);
  uint32_t *n_passes = is_a ? &diff->n_passes_a : &diff->n_passes_b;
  for (uint32_t i = 0; i < self->n_passes; i++)
    *n_passes += ended_well(self, i);
}

static void
apply_events(side *self, uint64_t first, uint64_t end) {
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (!event) continue;
    td_lives_apply(self->lives, event);
    if (event->event.kind == TD_EVENT_graph_task_end &&
        event->graph_task_end.status != TD_task_status_ok)
      ++*td_number_map_put(&self->failed, event->graph_task_end.graph_task);
  }
  td_tape_end_pass(self->tape);
}

/* Lives that the tape leaves open end with the last segment: only its catalog names their nodes. */
static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  side *self = data;
  self->row_of_node = td_try_alloc(catalog->n_nodes, sizeof *self->row_of_node);
  if (!self->row_of_node) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory to compare");
  self->catalog = catalog;
  apply_events(self, first, end);
  if (end == td_tape_info_get(self->tape)->n_events) self->n_passes = td_lives_end(self->lives);
  self->catalog = NULL;
  free(self->row_of_node);
  self->row_of_node = NULL;
  return td_tape_check_readable(self->tape, error);
}

static td_status
read_side(rows *rows, td_tape *tape, bool is_a, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  side self = {.rows = rows, .tape = tape};
  if (!td_life_is_known(info, TD_LIFE_apply))
    return td_error_set(error, TD_UNSUPPORTED,
                        "%s: the recording did not observe how long functions took",
                        td_tape_path(tape));
  self.lives = td_lives_new(info, (td_life_listener){.life = life_cb, .data = &self});
  td_status status = td_catalog_visit(tape, 0, info->n_events, visit_segment, &self, error);
  if (status)
    td_error_prefix(error, "%s: ", td_tape_path(tape));
  else
    fill_in(&self, is_a);
  td_lives_free(self.lives);
  td_number_map_fini(&self.sums);
  td_number_map_fini(&self.calls);
  td_number_map_fini(&self.failed);
  return status;
}

/* ---- both ---- */

static const char *
find_lack(const td_diff_by_row *row) {
  if (!row->a.n_passes) return "only in B";
  if (!row->b.n_passes) return "only in A";
  if (TD_MIN(row->a.n_passes, row->b.n_passes) < TD_RATIO_SAMPLES) return "fewer than 3 passes";
  if (TD_MIN(row->a.p50, row->b.p50) < TD_RATIO_NS) return "under 50 us";
  return NULL;
}

static int
compare_rows(const void *a, const void *b) {
  const td_diff_by_row *left = a, *right = b;
  uint64_t most = TD_MAX(left->a.p50, left->b.p50), other = TD_MAX(right->a.p50, right->b.p50);
  if (most != other) return most > other ? -1 : 1;
  return strcmp(left->key, right->key);
}

/* Rows of passes that failed alone are none. */
static void
finish(const rows *self) {
  td_diff_by *diff = self->diff;
  uint32_t n = 0;
  for (uint32_t i = 0; i < diff->n_rows; i++) {
    td_diff_by_row *row = &diff->rows[i];
    if (!row->a.n_passes && !row->b.n_passes) continue;
    row->key = td_text_table_get(&diff->keys, self->texts[i]);
    row->lack = find_lack(row);
    if (!row->lack) row->ratio = (double)row->b.p50 / (double)row->a.p50;
    diff->rows[n++] = *row;
  }
  diff->n_rows = n;
  if (n) qsort(diff->rows, n, sizeof *diff->rows, compare_rows);
}

td_status
td_diff_by_make(td_tape *a, td_tape *b, td_report_by by, td_diff_by *diff, td_error *error) {
  *diff = (td_diff_by){0};
  rows rows = {.by = by, .diff = diff};
  td_status status = read_side(&rows, a, true, error);
  if (!status) status = read_side(&rows, b, false, error);
  if (!status) finish(&rows);
  td_number_map_fini(&rows.numbers);
  free(rows.texts);
  return status;
}

void
td_diff_by_fini(td_diff_by *diff) {
  free(diff->rows);
  td_text_table_fini(&diff->keys);
  *diff = (td_diff_by){0};
}
