/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Compares the states before and after an event. An event can change the nodes, threads, queues and
 * passes that it names, and the node of its thread. The end of a pass can change all nodes. Private
 * to ui/page. One thread. */
#pragma once

#include "engine/replay/replay.h"
#include "ui/page/changes.h"
#include "ui/page/graphs.h"

/* What a page shows of a node, or of a node in the pass of a graph. */
typedef struct td_page_node_now {
  uint32_t state, arrived, expected, thread, flags;
} td_page_node_now;

typedef struct td_page_queue_now {
  td_queue_entry first[TD_PAGE_TASKS]; /* in the order of popping */
  uint32_t n, length;                  /* of `first`, of the queue */
} td_page_queue_now;

typedef struct td_page_thread_now {
  uint32_t state, node, lock;
} td_page_thread_now;

typedef struct td_page_pass_now {
  uint32_t status, outstanding, n_done;
} td_page_pass_now;

/* `now` is what the last change of a thing said, `first` what it was before the first event. */
typedef struct td_page_tracker {
  td_page_changes *changes;                  /* (borrowed) */
  td_replay *replay;                         /* (borrowed) */
  td_page_nodes *nodes;                      /* (borrowed) */
  const td_page_graphs *graphs;              /* (borrowed) */
  td_page_node_now *nodes_now, *nodes_first; /* (owned) [n_nodes] */
  td_page_node_now *pairs_now,
      *pairs_first; /* (owned) as graphs->places; of nodes of several graphs */
  uint32_t n_nodes, now_capacity, first_capacity;
  bool *edges_now, *edges_first;                   /* (owned) */
  td_page_queue_now *queues_now, *queues_first;    /* (owned) */
  td_page_thread_now *threads_now, *threads_first; /* (owned) */
  td_page_pass_now *passes_now, *passes_first;     /* (owned) by graph */
  uint32_t *touched; /* (owned) nodes of the page that the event can change */
  uint32_t n_touched, touched_capacity;
} td_page_tracker;

/* td_page_tracker_init takes the replay's present state as the beginning. */
void td_page_tracker_init(td_page_tracker *tracker, td_page_changes *changes, td_replay *replay,
                          td_page_nodes *nodes, const td_page_graphs *graphs);
void td_page_tracker_fini(td_page_tracker *tracker);

/* td_page_tracker_expect is called before the replay applies an event, td_page_tracker_compare
 * afterwards: it appends the changes. */
void td_page_tracker_expect(td_page_tracker *tracker, const td_any_event *event);
void td_page_tracker_compare(td_page_tracker *tracker, const td_any_event *event);

/* td_page_tracker_write_beginning appends the changes that lead from nothing to the beginning. */
void td_page_tracker_write_beginning(td_page_tracker *tracker);
