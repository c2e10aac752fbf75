/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What collecting carries through the tape: the catalog so far, and how much room its tables have.
 * Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/catalog_slices.h"

#define TD_CATALOG_DEVICES_MAX 1024
#define TD_CATALOG_PROCESSES_MAX 65536

/* The tables that grow with the ids met, and which of them an id field belongs to. In the first
 * two, an id has a row. The others have each id up to the greatest. */
typedef enum td_catalog_table {
  NODES,
  GRAPH_TASKS,
  THREADS,
  QUEUES,
  N_TABLES,
  N_ROW_TABLES = THREADS
} table;

typedef struct id_field {
  uint16_t offset;
  uint16_t table;
} id_field;

typedef struct id_fields {
  uint32_t n;
  id_field fields[8];
} id_fields;

/* How much room the tables have that grow event by event. */
typedef struct td_catalog_room {
  uint32_t edges, metadata, runs, steps, settings, streams, left_out, stretches, causes,
      mentions[TD_N_LISTS];
} td_catalog_room;

typedef struct td_catalog_builder {
  td_tape *tape;
  const td_segment *segment;
  td_catalog *catalog;
  td_error *error;
  const bool *kinds;   /* (borrowed) of events to take, or NULL for all */
  uint64_t seq, limit; /* of ids; of rows, where an id has a row */
  uint32_t capacity[N_TABLES];
  uint32_t last[N_TABLES]; /* the id that was declared last: events about one thing come in a row */
  uint32_t *queue_lengths; /* now, by queue */
  td_catalog_run *runs;    /* (owned) [catalog->n_ran] */
  uint32_t device_names[TD_CATALOG_DEVICES_MAX + 1]; /* string numbers by device + 1 */
  bool device_seen[TD_CATALOG_DEVICES_MAX + 1];
  id_fields id_fields[TD_EVENT_LIMIT];
  td_catalog_room room;
  bool out_of_memory; /* a table could not grow */
  bool late;          /* td_collecting_is_late */
} td_catalog_builder;

/* td_catalog_reserve makes the tables. It sets out_of_memory without memory. */
void td_catalog_reserve(td_catalog_builder *builder);

/* td_catalog_grow makes room for one more element behind n, and returns the table, or NULL without
 * memory: then it sets out_of_memory. */
void *td_catalog_grow(td_catalog_builder *builder, void *table, uint32_t n, uint32_t *room,
                      size_t size);

/* TD_CATALOG_ADD adds an element to a table of the catalog. */
#define TD_CATALOG_ADD(builder, table, n, room, ...)                                               \
  do {                                                                                             \
    void *grown = td_catalog_grow((builder), (table), (n), &(room), sizeof *(table));              \
    if (grown) {                                                                                   \
      (table) = grown;                                                                             \
      (table)[(n)++] = __VA_ARGS__;                                                                \
    }                                                                                              \
  } while (0)

/* td_catalog_take adds what an event tells to the catalog. All ids of the event are declared. */
void td_catalog_take(td_catalog_builder *builder, const td_any_event *event);

/* td_catalog_know_process makes room for a process. */
void td_catalog_know_process(td_catalog *catalog, uint32_t process);
