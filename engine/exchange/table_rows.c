/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/table_rows.h"

#include "engine/base/utf8.h"
#include "engine/exchange/table_events.h"
#include "engine/exchange/table_facts.h"
#include "engine/exchange/table_spans.h"
#include "engine/exchange/tape_walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct rows {
  td_table_facts facts;
  td_table_events *events; /* (owned) */
  td_table_spans *spans;   /* (owned) */
} rows;

static void
event_cb(const td_catalog *catalog, uint64_t seq, const td_any_event *event, void *data) {
  rows *self = data;
  td_table_facts_take(&self->facts, event);
  td_table_events_take(self->events, catalog, seq, event);
  td_table_spans_take(self->spans, catalog, seq, event);
}

static void
node_cb(const td_catalog *catalog, const td_catalog_node *node, void *data) {
  rows *self = data;
  td_table_facts_node(&self->facts, catalog, node);
}

static void
whole_cb(const td_catalog *catalog, uint64_t first, uint64_t end, void *data) {
  rows *self = data;
  td_table_spans_finish(self->spans, catalog);
  td_table_facts_whole(&self->facts, catalog, first, end);
}

/* Databases want UTF-8, and a tape may have any bytes. */
static void
clean_row_cb(td_table table, const td_cell *cells, void *data) {
  const td_row_sink *sink = data;
  td_cell clean[TD_COLUMNS_MAX];
  char *made[TD_COLUMNS_MAX];
  uint32_t n = td_table_get(table)->n_columns, n_made = 0;
  memcpy(clean, cells, n * sizeof *cells);
  for (uint32_t i = 0; i < n; i++) {
    if (cells[i].type != TD_CELL_TEXT || td_utf8_is_valid(cells[i].text, cells[i].length)) continue;
    made[n_made] = td_utf8_dup(cells[i].text, cells[i].length);
    clean[i] = td_cell_whole(made[n_made++]);
  }
  sink->row(table, clean, sink->data);
  while (n_made)
    free(made[--n_made]);
}

td_status
td_tables_write(td_tape *tape, const td_export_wish *wish, const td_row_sink *sink,
                td_error *error) {
  const td_row_sink clean = {clean_row_cb, (void *)sink};
  rows self = {.facts.sink = &clean,
               .events = td_table_events_new(tape, &clean),
               .spans = td_table_spans_new(tape, &clean)};
  const td_walk_listener listener = {event_cb, node_cb, whole_cb, &self};
  td_table_facts_about(&self.facts, tape);
  td_status status = td_tape_walk(tape, wish, &listener, error);
  td_table_facts_fini(&self.facts);
  td_table_events_free(self.events);
  td_table_spans_free(self.spans);
  return status;
}
