/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/tape_walk.h"

#include "engine/base/alloc.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/catalog_visit.h"

typedef struct walk {
  td_tape *tape;
  const td_walk_listener *listener;
  bool of_pass;
  uint64_t first, end;
  bool *is_freed, *is_named; /* (owned) by row of the segment's catalog */
  td_number_map told, named; /* nodes that were told, with and without a declaration, as bits */
} walk;

static void
note_names(walk *self, const td_catalog *catalog, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    const td_field *field = &type->fields[i];
    if (td_event_id_space(event, field) != TD_ID_NODE) continue;
    uint32_t row = td_catalog_node_row(catalog, (uint32_t)td_event_field_get(event, field));
    if (row != TD_NO_ROW) self->is_named[row] = true;
  }
}

static void
take(walk *self, const td_catalog *catalog, uint64_t seq, const td_any_event *event) {
  if (self->of_pass) note_names(self, catalog, &event->event);
  if (event->event.kind == TD_EVENT_node_free) {
    uint32_t row = td_catalog_node_row(catalog, event->node_free.node);
    if (row != TD_NO_ROW) self->is_freed[row] = true;
  }
  if (self->listener->event) self->listener->event(catalog, seq, event, self->listener->data);
}

#define BITS UINT32_C(64)

static bool
has_bit(const td_number_map *map, uint32_t node) {
  const uint64_t *bits = td_number_map_find(map, node / BITS);
  return bits && *bits >> node % BITS & 1;
}

/* A node that was declared and not freed is in the next segment's catalog too. Some that were freed
 * are as well: those that a queue popped last, and those that these lead to. */
static bool
is_due(const walk *self, const td_catalog_node *node, uint32_t row, bool is_last) {
  bool is_declared = node->created_seq != UINT64_MAX;
  if (has_bit(&self->told, node->id)) return false;
  if (!is_declared && has_bit(&self->named, node->id)) return false;
  if (self->of_pass) return self->is_named[row];
  return is_last || self->is_freed[row] || !is_declared;
}

static void
tell_node(walk *self, const td_catalog *catalog, const td_catalog_node *node) {
  td_number_map *map = node->created_seq != UINT64_MAX ? &self->told : &self->named;
  *td_number_map_put(map, node->id / BITS) |= UINT64_C(1) << node->id % BITS;
  self->listener->node(catalog, node, self->listener->data);
}

static void
tell_nodes(walk *self, const td_catalog *catalog, bool is_last) {
  if (!self->listener->node) return;
  for (uint32_t row = 0; row < catalog->n_nodes; row++) {
    const td_catalog_node *node = &catalog->node_rows[row];
    if (is_due(self, node, row, is_last)) tell_node(self, catalog, node);
  }
}

static void
tell_events(walk *self, const td_catalog *catalog, uint64_t first, uint64_t end) {
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) take(self, catalog, seq, event);
  }
  td_tape_end_pass(self->tape);
}

/* The outline, or all of a tape that has none. */
static td_status
collect_whole(td_tape *tape, td_catalog **catalog, td_error *error) {
  td_segment outline = td_tape_outline(tape);
  td_status status = TD_DAMAGED;
  if (td_tape_n_segments(tape)) status = td_catalog_collect(tape, &outline, catalog, error);
  if (status != TD_DAMAGED) return status;
  td_error_clear(error);
  return td_catalog_collect_whole(tape, catalog, error);
}

/* The catalog of the only segment is that of all the tape. */
static bool
is_whole(const walk *self) {
  return self->listener->whole && !td_tape_n_segments(self->tape);
}

static td_status
tell_outline(walk *self, td_error *error) {
  if (!self->listener->whole || is_whole(self)) return TD_OK;
  td_catalog *catalog = NULL;
  td_status status = collect_whole(self->tape, &catalog, error);
  if (!status) self->listener->whole(catalog, self->first, self->end, self->listener->data);
  td_catalog_free(catalog);
  return status;
}

static td_status
walk_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data, td_error *error) {
  walk *self = data;
  self->is_freed = td_try_alloc((size_t)catalog->n_nodes + 1, sizeof(bool));
  self->is_named = td_try_alloc((size_t)catalog->n_nodes + 1, sizeof(bool));
  bool has_room = self->is_freed && self->is_named;
  if (has_room) {
    tell_events(self, catalog, first, end);
    tell_nodes(self, catalog, end >= self->end);
    if (is_whole(self)) self->listener->whole(catalog, self->first, end, self->listener->data);
  }
  free(self->is_freed);
  free(self->is_named);
  if (!has_room)
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for %u nodes", catalog->n_nodes);
  return td_tape_check_readable(self->tape, error);
}

td_status
td_tape_find_pass(td_tape *tape, const td_export_wish *wish, uint64_t *first, uint64_t *end,
                  td_error *error) {
  *first = 0;
  *end = td_tape_info_get(tape)->n_events;
  if (wish->graph_task == TD_NONE) return TD_OK;
  td_catalog *catalog = NULL;
  td_status status = collect_whole(tape, &catalog, error);
  if (status) return status;
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, wish->graph_task);
  if (pass && pass->begin_seq < *end) {
    *first = pass->begin_seq;
    *end = TD_MIN(pass->end_seq + 1, *end);
  } else {
    status = td_error_set(error, TD_OUT_OF_RANGE, "there is no graph task %u on this tape",
                          wish->graph_task);
  }
  td_catalog_free(catalog);
  return status;
}

td_status
td_tape_walk(td_tape *tape, const td_export_wish *wish, const td_walk_listener *listener,
             td_error *error) {
  walk self = {.tape = tape, .listener = listener, .of_pass = wish->graph_task != TD_NONE};
  td_status status = td_tape_find_pass(tape, wish, &self.first, &self.end, error);
  if (!status) status = td_catalog_visit(tape, self.first, self.end, walk_segment, &self, error);
  if (!status) status = tell_outline(&self, error);
  td_number_map_fini(&self.told);
  td_number_map_fini(&self.named);
  return status;
}
