/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/catalog_visit.h"

#include "engine/base/alloc.h"

static td_status
check_watch(td_tape *tape, td_error *error) {
  return td_tape_goes_on(tape) ? TD_OK : td_error_set(error, TD_INVALID, "cancelled");
}

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
    if (!status && first < end) status = check_watch(tape, error);
  } while (!status && first < end);
  return status;
}

/* The listener sees no event twice. */
static td_status
collect_rest(td_tape *tape, uint64_t first, const td_catalog_along *along, td_catalog **catalog,
             td_error *error) {
  td_segment whole = td_tape_whole(tape), rest = whole;
  td_catalog_along unheard = {.kinds = along->kinds};
  td_status status = td_catalog_collect_along(tape, &whole, &unheard, catalog, error);
  if (status) return status;
  rest.first = first;
  td_tape_begin_pass(tape, &rest);
  for (uint64_t seq = rest.first; seq < rest.end; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event) along->listener(*catalog, event, seq, along->data);
  }
  td_tape_end_pass(tape);
  return td_tape_check_readable(tape, error);
}

td_status
td_catalog_visit_along(td_tape *tape, td_catalog_along *along, td_catalog_visitor visit,
                       td_error *error) {
  uint64_t first = 0, end = td_tape_info_get(tape)->n_events;
  td_status status;
  do {
    td_catalog *catalog = NULL;
    td_segment segment = td_tape_segment_at(tape, first);
    status = td_catalog_collect_along(tape, &segment, along, &catalog, error);
    if (status == TD_DAMAGED && td_tape_n_segments(tape) && !along->has_begun) {
      td_error_clear(error);
      segment.end = end;
      status = collect_rest(tape, first, along, &catalog, error);
    }
    if (!status) status = visit(catalog, first, TD_MIN(segment.end, end), along->data, error);
    td_catalog_free(catalog);
    first = segment.end;
    if (!status && first < end) status = check_watch(tape, error);
  } while (!status && first < end);
  return status;
}
