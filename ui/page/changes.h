/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What each event of a page changed. The replay alone knows what events mean; a page has only its
 * results. A change is a few whole numbers, the first of which says what it is:
 *
 * - node: node, state, gradients that arrived, gradients expected, thread, flags. Flags are 1 if
 * its buffer is parked, 2 times the anomaly, and 16 times the place where that was born.
 * - pair: node, graph, and the rest as for a node: what a node of several graphs does in one.
 * - edge: edge, 1 if its gradient has moved.
 * - queue: queue, its length, place, number of tasks that left, number of tasks that came, and
 *   their nodes. They leave and come among the first tasks, at that place.
 * - thread: thread, activity, node, lock.
 * - pass: graph, status, outstanding, nodes done.
 *
 * A node, thread or lock is 1 + its number, or 0 for none. In a queue, 0 is a dummy task, -1 a
 * shutdown task and -2 a node without a place on the page. Private to ui/page. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum td_page_change {
  TD_PAGE_NODE,
  TD_PAGE_EDGE,
  TD_PAGE_QUEUE,
  TD_PAGE_THREAD,
  TD_PAGE_PASS,
  TD_PAGE_PAIR
} td_page_change;

/* So many tasks of a queue are on the page, the first ones. */
#define TD_PAGE_TASKS 12

typedef struct td_page_event {
  uint64_t time;
  uint32_t thread, kind, node; /* node of the page that it is about, or TD_NONE */
  uint32_t says, why;          /* texts; `why` of a pop */
  uint32_t n_words;            /* of its changes */
} td_page_event;

typedef struct td_page_changes {
  td_page_event *events; /* (owned) event 0 is the state before the first one */
  uint32_t n_events, event_capacity;
  int64_t *words; /* (owned) changes of all events, one after another */
  size_t n_words, word_capacity;
  bool *has_thread, *has_queue; /* (owned) some change is about it */
} td_page_changes;

void td_page_changes_fini(td_page_changes *changes);
