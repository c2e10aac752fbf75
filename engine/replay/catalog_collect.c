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

#define OUTLINE_ROWS_AT_FIRST (UINT64_C(1) << 18)

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

/* A long tape has many passes. Their roots would be most of what an outline takes, and it knows
 * nothing of them. */
static bool
is_left_out(const td_catalog_builder *builder, uint32_t kind, int table) {
  return builder->segment->number == TD_SEGMENT_OUTLINE && kind == TD_EVENT_graph_task_begin &&
         table == NODES;
}

static void
find_id_fields(td_catalog_builder *builder) {
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    id_fields *found = &builder->id_fields[kind];
    for (uint16_t i = 0; type && i < type->n_fields; i++) {
      int table = table_of(type->fields[i].space);
      if (table >= 0 && found->n < TD_N_ELEMENTS(found->fields) &&
          !is_left_out(builder, kind, table))
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
declare_new(td_catalog_builder *builder, table which, uint32_t id) {
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

static inline td_status
declare(td_catalog_builder *builder, table which, uint32_t id) {
  if (id == builder->last[which]) return TD_OK;
  td_status status = declare_new(builder, which, id);
  if (status == TD_OK) builder->last[which] = id;
  return status;
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

/* An outline has all passes of the tape. Growing by and by would copy them. */
static uint32_t
likely_length(const td_catalog_builder *builder, table which) {
  bool is_long = builder->segment->number == TD_SEGMENT_OUTLINE && which == GRAPH_TASKS;
  uint64_t n = td_tape_info_get(builder->tape)->n_by_kind[TD_EVENT_graph_task_begin];
  return is_long ? (uint32_t)TD_MIN(n + 1, OUTLINE_ROWS_AT_FIRST) : 1;
}

/* Room for the first elements of all tables. */
static bool
reserve_all(td_catalog_builder *builder) {
  td_catalog_reserve(builder);
  bool reserved = !builder->out_of_memory;
  for (table which = 0; which < N_TABLES; which++) {
    reserved = reserved && reserve(builder, which, likely_length(builder, which));
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

/* Events named the ids in any order. *places is NULL if it was that of the ids. */
static bool
sort_table(td_catalog *catalog, table which, uint32_t **places) {
  uint32_t n = *table_count(catalog, which), *order;
  if (!td_id_rows_sort(rows_of(catalog, which), places)) return false;
  if (!*places) return true;
  order = td_try_alloc(n, sizeof *order);
  if (!order) return false;
  memcpy(order, *places, n * sizeof *order);
  permute(*(char **)(void *)((char *)catalog + tables[which].array), tables[which].size, order, n);
  free(order);
  return true;
}

static bool
sort_rows(td_catalog *catalog) {
  return sort_table(catalog, NODES, &catalog->node_places) &&
         sort_table(catalog, GRAPH_TASKS, &catalog->graph_task_places);
}

static td_status
finish(td_catalog_builder *builder) {
  const td_tape_info *info = td_tape_info_get(builder->tape);
  td_catalog *catalog = builder->catalog;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++)
    catalog->graph_task_rows[i].end_seq =
        TD_MIN(catalog->graph_task_rows[i].end_seq, info->n_events);
  td_catalog_know_process(catalog, 0);
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    td_catalog_know_process(catalog, catalog->threads[i].process);
  if (builder->out_of_memory || !collect_devices(builder) || !sort_rows(catalog) ||
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

static td_status
begin(td_tape *tape, const td_segment *segment, const bool *kinds, td_collecting **collecting,
      td_error *error) {
  td_catalog_builder *made = TD_NEW(td_catalog_builder);
  td_catalog *catalog = made->catalog = TD_NEW(td_catalog);
  made->tape = tape;
  made->segment = segment;
  made->error = error;
  made->kinds = kinds;
  catalog->segment = *segment;
  catalog->segment.keyframe = NULL;
  catalog->engine = catalog->version = catalog->source = catalog->policy = catalog->probe_reason =
      "";
  made->limit = id_limit(td_tape_info_get(tape));
  for (table which = 0; which < N_TABLES; which++)
    made->last[which] = TD_NONE;
  find_id_fields(made);
  *collecting = made;
  if (reserve_all(made)) return TD_OK;
  td_status status = td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the catalog");
  return td_collecting_end(made, status, NULL);
}

td_status
td_collecting_new(td_tape *tape, const td_segment *segment, td_collecting **collecting,
                  td_error *error) {
  return begin(tape, segment, NULL, collecting, error);
}

td_status
td_collecting_take(td_collecting *collecting, const td_any_event *event, uint64_t seq) {
  collecting->seq = seq;
  td_status status = declare_ids(collecting, event);
  if (status == TD_OK) td_catalog_take(collecting, event);
  return status;
}

const td_catalog *
td_collecting_catalog(const td_collecting *collecting) {
  return collecting->catalog;
}

bool
td_collecting_is_late(const td_collecting *collecting) {
  return collecting->late;
}

td_status
td_collecting_end(td_collecting *collecting, td_status status, td_catalog **catalog) {
  if (!status) status = finish(collecting);
  if (!status)
    *catalog = collecting->catalog;
  else
    td_catalog_free(collecting->catalog);
  free(collecting->queue_lengths);
  free(collecting->runs);
  free(collecting);
  return status;
}

/* Of an event of another kind, the catalog has only the thread. */
static inline bool
is_of_interest(const td_collecting *self, const td_event *event) {
  return !self->kinds || self->kinds[event->kind] || event->thread >= self->catalog->n_threads;
}

static td_status
take_wished(const td_any_event *event, uint64_t seq, void *data) {
  td_collecting *self = data;
  if (!self->kinds || self->kinds[event->event.kind]) return td_collecting_take(self, event, seq);
  self->seq = seq;
  return declare(self, THREADS, event->event.thread);
}

static td_status
take_run(td_collecting *self, const td_tape_run *run, uint64_t first,
         const td_catalog_along *along) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < run->n && !status; i++) {
    const td_any_event *event = td_tape_run_get(run, i);
    if (is_of_interest(self, &event->event)) status = take_wished(event, first + i, self);
    if (!status && along->listener) along->listener(self->catalog, event, first + i, along->data);
  }
  return status;
}

td_status
td_catalog_collect(td_tape *tape, const td_segment *segment, td_catalog **catalog,
                   td_error *error) {
  return td_catalog_collect_along(tape, segment, &(td_catalog_along){0}, catalog, error);
}

td_status
td_catalog_collect_along(td_tape *tape, const td_segment *segment, td_catalog_along *along,
                         td_catalog **catalog, td_error *error) {
  td_collecting *collecting;
  along->has_begun = false;
  td_status status = begin(tape, segment, along->kinds, &collecting, error);
  if (status) return status;
  status = td_tape_visit_keyframe(tape, segment, take_wished, collecting, error);
  along->has_begun = !status;
  td_tape_begin_pass(tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end && !status;) {
    const td_tape_run run = td_tape_peek_run(tape, seq, segment->end);
    status = take_run(collecting, &run, seq, along);
    seq += TD_MAX(run.n, 1u);
  }
  td_tape_end_pass(tape);
  if (!status) status = td_tape_check_readable(tape, error);
  return td_collecting_end(collecting, status, catalog);
}

td_status
td_catalog_collect_whole(td_tape *tape, td_catalog **catalog, td_error *error) {
  td_segment whole = td_tape_whole(tape);
  return td_catalog_collect(tape, &whole, catalog, error);
}
