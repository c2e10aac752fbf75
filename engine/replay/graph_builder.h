/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What td_graph_collect carries through the tape: the graph so far and how much room its tables
 * have. Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/slices.h"

#define TD_GRAPH_DEVICES_MAX 1024
#define TD_GRAPH_PROCESSES_MAX 65536

/* The tables that grow with the ids met, and which of them an id field belongs to. */
typedef enum td_graph_table { NODES, THREADS, QUEUES, GRAPH_TASKS, N_TABLES } table;

typedef struct id_field {
  uint16_t offset;
  uint16_t table;
} id_field;

typedef struct id_fields {
  uint32_t n;
  id_field fields[8];
} id_fields;

typedef struct td_graph_builder {
  td_tape *tape;
  td_graph *graph;
  td_error *error;
  uint64_t seq, limit; /* ids stay below limit */
  uint32_t capacity[N_TABLES];
  uint32_t *queue_lengths;                         /* now, by queue */
  td_graph_run *runs;                              /* (owned) [graph->n_ran] */
  uint32_t device_names[TD_GRAPH_DEVICES_MAX + 1]; /* string numbers by device + 1 */
  bool device_seen[TD_GRAPH_DEVICES_MAX + 1];
  id_fields id_fields[TD_EVENT_LIMIT];
} td_graph_builder;

/* td_graph_take adds what an event tells to the graph; all ids in it are declared. */
void td_graph_take(td_graph_builder *builder, const td_any_event *event);

/* td_graph_know_process makes room for a process. */
void td_graph_know_process(td_graph *graph, uint32_t process);
