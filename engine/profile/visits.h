/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine did with nodes, in its order. A visit is one node in one graph task, from the
 * pop of its task to the end of its function. It has a time and the values of its gradients.
 * Read-only once collected; any number of threads may read it. */
#pragma once

#include "engine/profile/likeness.h"

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

/* One backward pass. Its stream is the thread whose call from outside led to it; nested passes lie
 * on the stream of the outermost pass. */
typedef struct td_visit_task {
  uint32_t graph_task; /* TD_NONE: visits that name no graph task */
  uint32_t stream;     /* thread that called the outermost pass around this one, or TD_NONE */
  uint32_t first, n;   /* slice of visits, in the order of `at` */
} td_visit_task;

typedef struct td_visits {
  const td_catalog *catalog; /* (borrowed) */
  td_visit *visits;          /* (owned) by task */
  td_visit_value *values;    /* (owned) by visit, then by event */
  td_visit_task *tasks;      /* (owned) in the order in which they began */
  td_likeness likeness;      /* (owned) of all nodes */
  uint32_t n, n_values, n_tasks;
} td_visits;

/* td_visits_collect reads the tape once. The catalog is that tape's, and must outlive the visits.
 * TD_OUT_OF_MEMORY, or as td_tape_check_readable. */
td_status td_visits_collect(td_tape *tape, const td_catalog *catalog, td_visits *visits,
                            td_error *error);
void td_visits_fini(td_visits *visits);
