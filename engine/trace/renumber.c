/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/renumber.h"

#include "engine/base/alloc.h"

static bool
stays(td_id_space space, uint32_t id) {
  bool is_no_accelerator = space == TD_ID_DEVICE && (int32_t)id < 0;
  return id == TD_NONE || is_no_accelerator || (space == TD_ID_STRING && id == 0);
}

td_status
td_renumbering_note(td_renumbering *renumbering, td_id_space space, uint32_t id, uint64_t limit,
                    td_error *error) {
  td_id_map *map = &renumbering->maps[space];
  if (stays(space, id)) return TD_OK;
  if (id >= limit) return td_error_set(error, TD_DAMAGED, "it names an impossible id, %u", id);
  if (id >= map->n) {
    uint32_t n = (uint32_t)TD_MIN(TD_MAX((uint64_t)id + 1, 2 * (uint64_t)map->n), limit);
    uint32_t *numbers = realloc(map->numbers, (size_t)n * sizeof *numbers);
    if (!numbers) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for id %u", id);
    memset(numbers + map->n, 0xff, (size_t)(n - map->n) * sizeof *numbers);
    *map = (td_id_map){numbers, n};
  }
  map->numbers[id] = id;
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

void
td_renumbering_settle(td_renumbering *renumbering, uint32_t next[TD_N_ID_SPACES]) {
  for (int space = 0; space < TD_N_ID_SPACES; space++) {
    td_id_map *map = &renumbering->maps[space];
    for (uint32_t id = 0; id < map->n; id++)
      if (map->numbers[id] != TD_NONE) map->numbers[id] = next[space]++;
  }
}

uint32_t
td_renumbering_get(const td_renumbering *renumbering, td_id_space space, uint32_t id) {
  const td_id_map *map = &renumbering->maps[space];
  if (stays(space, id)) return id;
  return id < map->n ? map->numbers[id] : TD_NONE;
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
    free(renumbering->maps[space].numbers);
  *renumbering = (td_renumbering){0};
}
