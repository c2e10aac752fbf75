/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine did with nodes, in its order. A visit is one node in one graph task, from the
 * pop of its task to the end of its function. It has a time and the values of its gradients.
 * Read-only once collected; any number of threads may read it. */
#pragma once

#include "engine/profile/diff/likeness.h"

typedef struct td_visit {
  uint32_t node, graph_task;
  uint32_t thread;
  int32_t lane; /* device whose queue it came from: order is the engine's within one lane */
  bool popped;  /* `at` is its queue_pop; else the first event that shows it at work */
  uint32_t row; /* of the node */
  uint64_t at;  /* event number */
  uint64_t begin_ns, end_ns; /* of its function; both 0 where that did not run, or did not return */
} td_visit;

/* An anomaly or a tensor_stats event of a visit. */
typedef struct td_visit_value {
  uint32_t visit;
  td_event_kind kind;
  uint32_t place,
      number; /* anomaly: birthplace; tensor_stats: stats_place; and which of its values */
  uint64_t seq;
  union {
    td_event_anomaly anomaly;
    td_event_tensor_stats stats;
  };
} td_visit_value;

/* One backward pass, as far as the catalog's events have it. */
typedef struct td_visit_task {
  uint32_t graph_task; /* TD_NONE: visits that name no graph task */
  uint32_t first, n;   /* slice of visits, in the order of `at` */
} td_visit_task;

/* What people and JSON hear of a visit. It outlives the catalog: its texts are the tape's. */
typedef struct td_visited_node {
  uint32_t node, graph_task;
  uint64_t at;
  const char *name, *label, *module, *module_class; /* (borrowed) as in td_catalog_node */
} td_visited_node;

typedef struct td_visits {
  td_catalog *catalog;    /* (owned) of the segment */
  td_visit *visits;       /* (owned) by task */
  td_visit_value *values; /* (owned) by visit, then by event */
  td_visit_task *tasks;   /* (owned) by graph task */
  td_likeness likeness;   /* (owned) of all nodes */
  uint32_t n, n_values, n_tasks;
  bool has_edges, has_shapes; /* of the tape, set by the owner: edges with outputs; metadata */
} td_visits;

/* td_visits_collect reads a segment of the tape once. As td_catalog_collect. */
td_status td_visits_collect(td_tape *tape, const td_segment *segment, td_visits *visits,
                            td_error *error);
void td_visits_fini(td_visits *visits);

/* td_visits_task returns the visits of a graph task, none if it has none here. */
td_visit_task td_visits_task(const td_visits *visits, uint32_t graph_task);

td_visited_node td_visits_node(const td_visits *visits, uint32_t visit);

/* td_visited_compare orders visits of one tape by graph task, then by event. */
int td_visited_compare(const td_visited_node *a, const td_visited_node *b);
