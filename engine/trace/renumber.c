/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/renumber.h"

#include "engine/base/alloc.h"

#define NO_TABLE TD_N_ID_TABLES

/* What `object` of an event about a lock counts. */
static td_id_table
table_of_lock(const td_event *event) {
  switch (((const td_event_lock_wait *)event)->lock) {
  case TD_lock_kind_queue:
    return TD_ID_QUEUE;
  case TD_lock_kind_graph_task:
    return TD_ID_GRAPH_TASK;
  case TD_lock_kind_node:
    return TD_ID_NODE;
  default:
    return NO_TABLE;
  }
}

/* Fields that are plain numbers by their type, and ids by their event. */
static td_id_table
table_of_number(const td_event *event, const td_field *field) {
  switch (event->kind) {
  case TD_EVENT_string:
    return strcmp(field->name, "id") == 0 ? TD_ID_STRING : NO_TABLE;
  case TD_EVENT_process_new:
  case TD_EVENT_thread_new:
    return strcmp(field->name, "process") == 0 ? TD_ID_PROCESS : NO_TABLE;
  case TD_EVENT_lock_wait:
  case TD_EVENT_lock_acquired:
  case TD_EVENT_lock_released:
    return strcmp(field->name, "object") == 0 ? table_of_lock(event) : NO_TABLE;
  default:
    return NO_TABLE;
  }
}

static td_id_table
table_of(const td_event *event, const td_field *field) {
  switch (field->type) {
  case TD_FIELD_NODE:
    return TD_ID_NODE;
  case TD_FIELD_THREAD:
    return TD_ID_THREAD;
  case TD_FIELD_QUEUE:
    return TD_ID_QUEUE;
  case TD_FIELD_GRAPH_TASK:
    return TD_ID_GRAPH_TASK;
  case TD_FIELD_DEVICE:
    return TD_ID_DEVICE;
  case TD_FIELD_STRING:
    return TD_ID_STRING;
  case TD_FIELD_U32:
    return table_of_number(event, field);
  default:
    return NO_TABLE;
  }
}

static bool
stays(td_id_table table, uint32_t id) {
  return id == TD_NONE || (table == TD_ID_STRING && id == 0);
}

td_status
td_renumbering_note(td_renumbering *renumbering, td_id_table table, uint32_t id, uint64_t limit,
                    td_error *error) {
  td_id_map *map = &renumbering->maps[table];
  if (stays(table, id)) return TD_OK;
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
    td_id_table table = table_of(event, &type->fields[i]);
    uint32_t id = (uint32_t)td_event_field_get(event, &type->fields[i]);
    if (table != NO_TABLE) status = td_renumbering_note(renumbering, table, id, limit, error);
  }
  return status;
}

void
td_renumbering_settle(td_renumbering *renumbering, uint32_t next[TD_N_ID_TABLES]) {
  for (int table = 0; table < TD_N_ID_TABLES; table++) {
    td_id_map *map = &renumbering->maps[table];
    for (uint32_t id = 0; id < map->n; id++)
      if (map->numbers[id] != TD_NONE) map->numbers[id] = next[table]++;
  }
}

uint32_t
td_renumbering_get(const td_renumbering *renumbering, td_id_table table, uint32_t id) {
  const td_id_map *map = &renumbering->maps[table];
  if (stays(table, id)) return id;
  return id < map->n ? map->numbers[id] : TD_NONE;
}

void
td_renumbering_apply(const td_renumbering *renumbering, td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  event->thread = td_renumbering_get(renumbering, TD_ID_THREAD, event->thread);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    td_id_table table = table_of(event, &type->fields[i]);
    if (table == NO_TABLE) continue;
    uint32_t id = (uint32_t)td_event_field_get(event, &type->fields[i]);
    id = td_renumbering_get(renumbering, table, id);
    memcpy((char *)event + type->fields[i].offset, &id, sizeof id);
  }
}

void
td_renumbering_fini(td_renumbering *renumbering) {
  for (int table = 0; table < TD_N_ID_TABLES; table++)
    free(renumbering->maps[table].numbers);
  *renumbering = (td_renumbering){0};
}
