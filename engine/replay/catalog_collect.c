/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/catalog_collect.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/replay/catalog_builder.h"

#include <stdlib.h>
#include <string.h>

/* A recording may begin late in a process that has numbered passes and queues before. More of them
 * only on a tape that is trusted. */
#define EARLIER_IDS (1u << 16)
#define EARLIER_IDS_TRUSTED (1u << 20)

static int
table_of(td_id_space space) {
  switch (space) {
  case TD_ID_NODE:
    return NODES;
  case TD_ID_THREAD:
    return THREADS;
  case TD_ID_QUEUE:
    return QUEUES;
  case TD_ID_GRAPH_TASK:
    return GRAPH_TASKS;
  default:
    return -1;
  }
}

static void
find_id_fields(td_catalog_builder *builder) {
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    id_fields *found = &builder->id_fields[kind];
    for (uint16_t i = 0; type && i < type->n_fields; i++) {
      int table = table_of(type->fields[i].space);
      if (table >= 0 && found->n < TD_N_ELEMENTS(found->fields))
        found->fields[found->n++] = (id_field){type->fields[i].offset, (uint16_t)table};
    }
  }
}

static void
fill_node(td_catalog *catalog, uint32_t row, uint32_t id) {
  catalog->node_rows[row] = (td_catalog_node){
      .id = id, .name = "", .device = TD_DEVICE_CPU, .thread = TD_NONE, .created_seq = UINT64_MAX};
}

static void
fill_thread(td_catalog *catalog, uint32_t row, uint32_t id) {
  catalog->threads[row] = (td_catalog_thread){.name = "", .device = TD_DEVICE_CPU};
}

static void
fill_queue(td_catalog *catalog, uint32_t row, uint32_t id) {
  catalog->queues[row] =
      (td_catalog_queue){.device = TD_DEVICE_CPU, .graph_task = TD_NONE, .owner = TD_NONE};
}

static void
fill_graph_task(td_catalog *catalog, uint32_t row, uint32_t id) {
  catalog->graph_task_rows[row] = (td_catalog_graph_task){.id = id,
                                                          .owner = TD_NONE,
                                                          .root = TD_NONE,
                                                          .outer = TD_NONE,
                                                          .caller = TD_NONE,
                                                          .end_seq = UINT64_MAX,
                                                          .status = TD_task_status_running};
}

static const struct {
  size_t array, n,
      size; /* offsets in td_catalog of the pointer and the count; size of an element */
  void (*fill)(td_catalog *catalog, uint32_t row, uint32_t id);
  size_t ids;   /* offset in td_catalog of the td_id_rows, of a table with rows */
  size_t named; /* offset in an element of `named`, of the other tables */
} tables[N_TABLES] = {
    [NODES] = {offsetof(td_catalog, node_rows), offsetof(td_catalog, n_nodes),
               sizeof(td_catalog_node), fill_node, .ids = offsetof(td_catalog, node_ids)},
    [GRAPH_TASKS] = {offsetof(td_catalog, graph_task_rows), offsetof(td_catalog, n_graph_tasks),
                     sizeof(td_catalog_graph_task), fill_graph_task,
                     .ids = offsetof(td_catalog, graph_task_ids)},
    [THREADS] = {offsetof(td_catalog, threads), offsetof(td_catalog, n_threads),
                 sizeof(td_catalog_thread), fill_thread,
                 .named = offsetof(td_catalog_thread, named)},
    [QUEUES] = {offsetof(td_catalog, queues), offsetof(td_catalog, n_queues),
                sizeof(td_catalog_queue), fill_queue, .named = offsetof(td_catalog_queue, named)},
};

static uint32_t *
table_count(td_catalog *catalog, table which) {
  return (uint32_t *)(void *)((char *)catalog + tables[which].n);
}

static bool
resize(void **array, uint32_t n, size_t size) {
  void *larger = realloc(*array, (size_t)n * size);
  if (larger) *array = larger;
  return larger != NULL;
}

static bool
reserve(td_catalog_builder *builder, table which, uint32_t n) {
  if (n <= builder->capacity[which]) return true;
  uint64_t doubled = 2 * (uint64_t)builder->capacity[which];
  uint32_t capacity = (uint32_t)TD_MIN(TD_MAX(TD_MAX(doubled, n), 16), UINT32_MAX);
  void **array = (void **)(void *)((char *)builder->catalog + tables[which].array);
  if (!resize(array, capacity, tables[which].size)) return false;
  if (which == QUEUES) {
    if (!resize((void **)&builder->queue_lengths, capacity, sizeof(uint32_t))) return false;
    memset(builder->queue_lengths + builder->capacity[which], 0,
           (capacity - builder->capacity[which]) * sizeof(uint32_t));
  }
  builder->capacity[which] = capacity;
  return true;
}

static td_status
make_room(td_catalog_builder *builder, table which, uint32_t row, uint32_t id) {
  uint32_t *n = table_count(builder->catalog, which);
  if (row >= builder->limit)
    return td_error_set(
        builder->error, TD_DAMAGED, "event %llu names an impossible id, %u; --trust allows %s",
        (unsigned long long)builder->seq, id, which < N_ROW_TABLES ? "more" : "greater ones");
  if (row == TD_NO_ROW || !reserve(builder, which, row + 1))
    return td_error_set(builder->error, TD_OUT_OF_MEMORY, "no memory for id %u", id);
  while (*n <= row)
    tables[which].fill(builder->catalog, (*n)++, id);
  return TD_OK;
}

static td_id_rows *
rows_of(td_catalog *catalog, table which) {
  return (td_id_rows *)(void *)((char *)catalog + tables[which].ids);
}

static td_status
declare(td_catalog_builder *builder, table which, uint32_t id) {
  uint32_t row = id;
  if (id == TD_NONE) return TD_OK;
  if (which < N_ROW_TABLES) {
    td_id_rows *ids = rows_of(builder->catalog, which);
    if (td_id_rows_has_near(ids, id)) return TD_OK;
    row = td_id_rows_add(ids, id);
  }
  if (row >= *table_count(builder->catalog, which)) {
    td_status status = make_room(builder, which, row, id);
    if (status != TD_OK) return status;
  }
  if (which >= N_ROW_TABLES) {
    char *elements = *(char **)(void *)((char *)builder->catalog + tables[which].array);
    *(bool *)(elements + row * tables[which].size + tables[which].named) = true;
  }
  return TD_OK;
}

static td_status
declare_ids(td_catalog_builder *builder, const td_any_event *event) {
  const id_fields *ids = &builder->id_fields[event->event.kind];
  td_status status = declare(builder, THREADS, event->event.thread);
  for (uint32_t i = 0; i < ids->n && status == TD_OK; i++) {
    uint32_t id;
    memcpy(&id, (const char *)event + ids->fields[i].offset, sizeof id);
    status = declare(builder, (table)ids->fields[i].table, id);
  }
  return status;
}

static bool
collect_devices(td_catalog_builder *builder) {
  td_catalog *catalog = builder->catalog;
  catalog->devices = td_try_alloc(TD_CATALOG_DEVICES_MAX + 1, sizeof *catalog->devices);
  if (!catalog->devices) return false;
  for (int32_t device = -1; device < TD_CATALOG_DEVICES_MAX; device++) {
    if (!builder->device_seen[device + 1]) continue;
    const char *name = td_tape_string(builder->tape, builder->device_names[device + 1]);
    catalog->devices[catalog->n_devices++] =
        (td_catalog_device){device, name, td_line_dup(name, TD_NAME_SHOWN)};
  }
  return true;
}

/* Room for the first elements of all tables. */
static bool
reserve_all(td_catalog_builder *builder) {
  td_catalog_reserve(builder);
  bool reserved = !builder->out_of_memory;
  for (table which = 0; which < N_TABLES; which++) {
    reserved = reserved && reserve(builder, which, 1);
    if (reserved && which < N_ROW_TABLES)
      reserved = td_id_rows_init(rows_of(builder->catalog, which), (uint32_t)builder->limit);
  }
  return reserved;
}

/* Moves the elements of an array in place: element i becomes the one that was at order[i]. Uses up
 * the order. */
static void
permute(char *elements, size_t size, uint32_t *order, uint32_t n) {
  union {
    td_catalog_node node;
    td_catalog_graph_task graph_task;
  } first;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i;
    memcpy(&first, elements + i * size, size);
    for (uint32_t from; (from = order[at]) != i; at = from) {
      memcpy(elements + at * size, elements + from * size, size);
      order[at] = at;
    }
    memcpy(elements + at * size, &first, size);
    order[at] = at;
  }
}

/* Events named the ids in any order. */
static bool
sort_rows(td_catalog_builder *builder) {
  td_catalog *catalog = builder->catalog;
  for (table which = 0; which < N_ROW_TABLES; which++) {
    uint32_t *order;
    char *elements = *(char **)(void *)((char *)catalog + tables[which].array);
    if (!td_id_rows_sort(rows_of(catalog, which), &order)) return false;
    if (order) permute(elements, tables[which].size, order, *table_count(catalog, which));
    free(order);
  }
  return true;
}

static int
compare_mentions(const void *a, const void *b) {
  const td_catalog_mention *left = a, *right = b;
  if (left->node != right->node) return left->node < right->node ? -1 : 1;
  return (left->seq > right->seq) - (left->seq < right->seq);
}

static td_status
collect_event(const td_any_event *event, uint64_t seq, void *data) {
  td_catalog_builder *builder = data;
  builder->seq = seq;
  td_status status = declare_ids(builder, event);
  if (status == TD_OK) td_catalog_take(builder, event);
  return status;
}

static td_status
collect_events(td_catalog_builder *builder) {
  const td_segment *segment = builder->segment;
  td_status status =
      td_tape_visit_keyframe(builder->tape, segment, collect_event, builder, builder->error);
  td_tape_begin_pass(builder->tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end && status == TD_OK; seq++) {
    const td_any_event *event = td_tape_peek(builder->tape, seq);
    if (event) status = collect_event(event, seq, builder);
    if (event && builder->listener) builder->listener(event, seq, builder->listener_data);
  }
  td_tape_end_pass(builder->tape);
  return status ? status : td_tape_check_readable(builder->tape, builder->error);
}

static void
sort_mentions(td_catalog *catalog) {
  for (int list = TD_LIST_problems + 1; list < TD_N_LISTS; list++)
    qsort(catalog->mentions[list].items, catalog->mentions[list].n,
          sizeof *catalog->mentions[list].items, compare_mentions);
}

static td_status
collect(td_catalog_builder *builder) {
  const td_tape_info *info = td_tape_info_get(builder->tape);
  td_catalog *catalog = builder->catalog;
  catalog->engine = catalog->version = catalog->source = catalog->policy = catalog->probe_reason =
      "";
  bool reserved = reserve_all(builder);
  td_status status = reserved ? collect_events(builder) : TD_OK;
  if (status != TD_OK) return status;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++)
    catalog->graph_task_rows[i].end_seq =
        TD_MIN(catalog->graph_task_rows[i].end_seq, info->n_events);
  td_catalog_know_process(catalog, 0);
  sort_mentions(catalog);
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    td_catalog_know_process(catalog, catalog->threads[i].process);
  if (!reserved || builder->out_of_memory || !collect_devices(builder) || !sort_rows(builder) ||
      !td_catalog_slice(catalog, builder->runs))
    return td_error_set(builder->error, TD_OUT_OF_MEMORY, "no memory for the catalog");
  return TD_OK;
}

/* Each event names few new ids, so the tables follow the size of the tape. The tape itself says
 * how many events it lost: of a stranger's tape, they count as far as there are events. */
static uint64_t
id_limit(const td_tape_info *info) {
  uint64_t n_dropped = info->trusted ? info->n_dropped : TD_MIN(info->n_dropped, info->n_events);
  uint64_t earlier = info->trusted ? EARLIER_IDS_TRUSTED : EARLIER_IDS;
  return TD_MIN(info->n_events + n_dropped + earlier, TD_NONE);
}

td_status
td_catalog_collect(td_tape *tape, const td_segment *segment, td_catalog **catalog,
                   td_error *error) {
  return td_catalog_collect_along(tape, segment, NULL, NULL, catalog, error);
}

td_status
td_catalog_collect_along(td_tape *tape, const td_segment *segment, td_catalog_listener listener,
                         void *data, td_catalog **catalog, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  td_catalog_builder *state = TD_NEW(td_catalog_builder);
  state->tape = tape;
  state->segment = segment;
  state->error = error;
  state->listener = listener;
  state->listener_data = data;
  state->catalog = TD_NEW(td_catalog);
  state->catalog->segment = *segment;
  state->catalog->segment.keyframe = NULL;
  state->limit = id_limit(info);
  find_id_fields(state);
  td_status status = collect(state);
  if (status == TD_OK)
    *catalog = state->catalog;
  else
    td_catalog_free(state->catalog);
  free(state->queue_lengths);
  free(state->runs);
  free(state);
  return status;
}

td_status
td_catalog_collect_whole(td_tape *tape, td_catalog **catalog, td_error *error) {
  td_segment whole = td_tape_whole(tape);
  return td_catalog_collect(tape, &whole, catalog, error);
}
