/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/renumber.h"

#include "engine/base/alloc.h"

/* Ids below it are quickest to find. */
#define NEAR_IDS (1u << 20)

static bool
stays(td_id_space space, uint32_t id) {
  bool is_no_accelerator = space == TD_ID_DEVICE && (int32_t)id < 0;
  return id == TD_NONE || is_no_accelerator || (space == TD_ID_STRING && id == 0);
}

static bool
has_any_id(td_id_space space) {
  return space == TD_ID_NODE || space == TD_ID_GRAPH_TASK || space == TD_ID_COUNTER ||
         space == TD_ID_STREAM_EVENT;
}

td_status
td_renumbering_note(td_renumbering *renumbering, td_id_space space, uint32_t id, uint64_t limit,
                    td_error *error) {
  td_id_map *map = &renumbering->maps[space];
  if (stays(space, id)) return TD_OK;
  if (id >= limit && (!has_any_id(space) || map->rows.n >= limit))
    return td_error_set(error, TD_DAMAGED, "it names an impossible id, %u", id);
  if ((!map->rows.near && !td_id_rows_init(&map->rows, NEAR_IDS)) ||
      td_id_rows_add(&map->rows, id) == TD_NO_ROW)
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for id %u", id);
  map->n = TD_MAX(map->n, id + 1);
  return TD_OK;
}

td_status
td_renumbering_note_event(td_renumbering *renumbering, const td_event *event, uint64_t limit,
                          td_error *error) {
  const td_event_type *type = td_event_type_get(event->kind);
  td_status status = td_renumbering_note(renumbering, TD_ID_THREAD, event->thread, limit, error);
  for (uint16_t i = 0; i < type->n_fields && !status; i++) {
    td_id_space space = td_event_id_space(event, &type->fields[i]);
    uint32_t id = (uint32_t)td_event_field_get(event, &type->fields[i]);
    if (space != TD_ID_NONE) status = td_renumbering_note(renumbering, space, id, limit, error);
  }
  return status;
}

td_status
td_renumbering_settle(td_renumbering *renumbering, uint32_t next[TD_N_ID_SPACES], td_error *error) {
  for (int space = 0; space < TD_N_ID_SPACES; space++) {
    td_id_map *map = &renumbering->maps[space];
    uint32_t *order = NULL;
    if (!td_id_rows_sort(&map->rows, &order))
      return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for new numbers");
    free(order);
    map->first = next[space];
    next[space] += map->rows.n;
  }
  return TD_OK;
}

uint32_t
td_renumbering_get(const td_renumbering *renumbering, td_id_space space, uint32_t id) {
  const td_id_map *map = &renumbering->maps[space];
  if (stays(space, id)) return id;
  uint32_t row = td_id_rows_find(&map->rows, id);
  return row == TD_NO_ROW ? TD_NONE : map->first + row;
}

void
td_renumbering_apply(const td_renumbering *renumbering, td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  event->thread = td_renumbering_get(renumbering, TD_ID_THREAD, event->thread);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    td_id_space space = td_event_id_space(event, &type->fields[i]);
    if (space == TD_ID_NONE) continue;
    uint32_t id = (uint32_t)td_event_field_get(event, &type->fields[i]);
    id = td_renumbering_get(renumbering, space, id);
    memcpy((char *)event + type->fields[i].offset, &id, sizeof id);
  }
}

void
td_renumbering_fini(td_renumbering *renumbering) {
  for (int space = 0; space < TD_N_ID_SPACES; space++)
    td_id_rows_fini(&renumbering->maps[space].rows);
  *renumbering = (td_renumbering){0};
}
