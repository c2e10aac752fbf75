/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/catalog_visit.h"

#include "engine/base/alloc.h"
#include "engine/replay/catalog_collect.h"

td_status
td_catalog_visit(td_tape *tape, uint64_t first, uint64_t end, td_catalog_visitor visit, void *data,
                 td_error *error) {
  td_status status;
  do {
    td_catalog *catalog = NULL;
    td_segment segment = td_tape_segment_at(tape, first);
    status = td_catalog_collect(tape, &segment, &catalog, error);
    if (status == TD_DAMAGED && td_tape_n_segments(tape)) {
      td_error_clear(error);
      segment.end = end;
      status = td_catalog_collect_whole(tape, &catalog, error);
    }
    if (!status) status = visit(catalog, first, TD_MIN(segment.end, end), data, error);
    td_catalog_free(catalog);
    first = segment.end;
  } while (!status && first < end);
  return status;
}

typedef struct walk {
  td_tape *tape;
  td_event_visitor visit;
  void *data;
} walk;

static td_status
walk_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data, td_error *error) {
  walk *self = data;
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) self->visit(catalog, event, self->data);
  }
  td_tape_end_pass(self->tape);
  return td_tape_check_readable(self->tape, error);
}

td_status
td_catalog_visit_events(td_tape *tape, td_event_visitor visit, void *data, td_error *error) {
  walk self = {tape, visit, data};
  return td_catalog_visit(tape, 0, td_tape_info_get(tape)->n_events, walk_segment, &self, error);
}
