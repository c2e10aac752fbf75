/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that keep Python's GIL while passes wait for it. Private to engine/profile/findings.
 * Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

/* A thread that had the GIL when waits of passes began. */
typedef struct td_gil_holder {
  uint32_t thread;
  uint32_t n_waits;
  uint64_t waited_ns;
  uint64_t seq; /* where the longest of them ended */
  uint64_t longest_ns;
  char *name; /* (owned) or NULL */
} td_gil_holder;

typedef struct td_find_gil {
  td_gil_holder *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* by thread: 1 + its holder */
  td_number_map waiting; /* by thread: 1 + the holder, while it waits in a pass; else 0 */
  td_number_map at_work; /* threads that began passes, or ran nodes */
  td_number_map begun;   /* by graph task: 1 + the time; after its end 0 */
  uint32_t forgotten_at; /* size of that map */
  uint32_t n_passes;     /* outermost ones under way */
  uint64_t passes_ns;    /* of outermost ones that have ended */
} td_find_gil;

void td_find_gil_begin_pass(td_find_gil *self, const td_event_graph_task_begin *event);
void td_find_gil_end_pass(td_find_gil *self, const td_event_graph_task_end *event);
void td_find_gil_run(td_find_gil *self, const td_event_node_begin *event);
void td_find_gil_hold(td_find_gil *self, const td_event_lock_held *event);
void td_find_gil_acquire(td_find_gil *self, const td_event_lock_acquired *event, uint64_t seq);

/* td_find_gil_learn takes names of threads. td_find_gil_tell adds what was found on the whole tape.
 */
void td_find_gil_learn(td_find_gil *self, const td_catalog *catalog);
void td_find_gil_tell(const td_find_gil *self, td_findings *findings);
void td_find_gil_fini(td_find_gil *self);
