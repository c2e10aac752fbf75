/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/lanes.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "ui/draw/timeline.h"

typedef struct stretch {
  const td_page_nodes *nodes;
  uint64_t from, to;
} stretch;

static bool
has_spans(const stretch *self, const td_spans *row) {
  size_t first = td_spans_first(row, self->from);
  return first < row->n && row->spans[first].begin <= self->to;
}

/* The item of a span is its node on the page, null if it has none there. */
static void
write_item(const stretch *self, td_json *json, const td_span *span) {
  bool is_of_node = td_span_is_of_node(span) && span->item != TD_NONE;
  td_json_id(json, is_of_node ? td_page_nodes_find(self->nodes, span->item) : TD_NONE);
}

/* Begin, length, kind and item of each span, one after another. */
static void
write_row(const stretch *self, td_json *json, const td_spans *row) {
  td_json_begin_array(json);
  for (size_t i = td_spans_first(row, self->from); i < row->n; i++) {
    const td_span *span = &row->spans[i];
    if (span->begin > self->to) break;
    uint64_t begin = TD_MAX(span->begin, self->from), end = TD_MIN(span->end, self->to);
    td_json_u64(json, begin - self->from);
    td_json_u64(json, end - TD_MIN(begin, end));
    td_json_u64(json, span->kind);
    write_item(self, json, span);
  }
  td_json_end_array(json);
}

static size_t
first_sample(const td_lane *lane, uint64_t time) {
  size_t at;
  TD_BISECT(at, 0, lane->n_samples, lane->samples[at].time <= time);
  return at;
}

/* Time and length, one after another; the first is the length at the beginning. */
static void
write_samples(const stretch *self, td_json *json, const td_lane *lane) {
  size_t first = first_sample(lane, self->from), end = first_sample(lane, self->to);
  td_json_begin_array(json);
  td_json_u64(json, 0);
  td_json_u64(json, first ? lane->samples[first - 1].value : 0);
  for (size_t i = first; i < end; i++) {
    td_json_u64(json, lane->samples[i].time - self->from);
    td_json_u64(json, lane->samples[i].value);
  }
  td_json_end_array(json);
}

static bool
is_empty(const stretch *self, const td_lane *lane) {
  bool is_full =
      lane->kind == TD_LANE_queue && first_sample(lane, self->from) < first_sample(lane, self->to);
  for (size_t i = 0; i < lane->n_rows; i++)
    is_full |= has_spans(self, &lane->rows[i]);
  return !is_full;
}

static const char *
kind_of(const td_lane *lane) {
  return lane->kind == TD_LANE_queue ? "queue" : lane->kind == TD_LANE_stream ? "stream" : "thread";
}

static void
write_title(const td_timeline *timeline, td_json *json, const td_lane *lane) {
  const td_catalog *catalog = timeline->catalog;
  char *process =
      catalog->n_processes > 1 ? td_catalog_process_label(catalog, lane->process) : NULL;
  char *title = process ? td_format("%s · %s", process, lane->title) : td_dup_string(lane->title);
  td_json_key(json, "title");
  td_json_string(json, title);
  td_json_key(json, "note");
  td_json_string(json, lane->note);
  free(title);
  free(process);
}

static void
write_lane(const stretch *self, const td_timeline *timeline, td_json *json, const td_lane *lane) {
  td_json_begin_object(json);
  td_json_key(json, "kind");
  td_json_string(json, kind_of(lane));
  td_json_key(json, "id");
  td_json_u64(json, lane->id);
  td_json_key(json, "device");
  td_json_i64(json, lane->device);
  write_title(timeline, json, lane);
  td_json_key(json, "activity");
  write_row(self, json, &lane->activity);
  td_json_key(json, "rows");
  td_json_begin_array(json);
  for (size_t i = 0; i < lane->n_rows; i++)
    if (has_spans(self, &lane->rows[i])) write_row(self, json, &lane->rows[i]);
  td_json_end_array(json);
  if (lane->kind == TD_LANE_queue) {
    td_json_key(json, "lengths");
    write_samples(self, json, lane);
  }
  td_json_end_object(json);
}

void
td_page_lanes_write(const td_timeline *timeline, const td_page_nodes *nodes, uint64_t from,
                    uint64_t to, td_json *json) {
  const stretch self = {nodes, from, to};
  td_json_begin_array(json);
  for (size_t i = 0; i < timeline->n_lanes; i++)
    if (!is_empty(&self, &timeline->lanes[i]))
      write_lane(&self, timeline, json, &timeline->lanes[i]);
  td_json_end_array(json);
}
