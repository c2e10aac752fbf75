/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which gradients a waiting task has not got, and who will send them. Private to engine/profile. */
#pragma once

#include "engine/replay/state.h"

/* The nodes at which threads are: these run, or hand out their gradients. */
typedef struct td_senders_now {
  uint64_t *keys; /* (owned) graph task and node, sorted */
  uint32_t n;
} td_senders_now;

typedef struct td_sender {
  uint32_t from;
  uint32_t n_gradients; /* that it still owes */
} td_sender;

typedef struct td_missing {
  td_sender *senders; /* (owned) by node */
  uint32_t n, capacity;
} td_missing;

/* td_senders_now_list reads all threads of a state, td_senders_now_fini frees. One list serves all
 * questions about that state. */
void td_senders_now_list(td_senders_now *now, const td_catalog *catalog, const td_state *state);
void td_senders_now_fini(td_senders_now *now);

/* td_missing_find lists the senders of a task's missing gradients. A sender has an edge to the
 * task's node, takes part in its graph task, and has sent fewer gradients than it has such edges.
 * The search follows the edges of the node, or the nodes of the graph task if those are far fewer.
 * td_missing_fini frees. */
void td_missing_find(td_missing *missing, const td_catalog *catalog, const td_state *state,
                     const td_senders_now *now, const td_task_now *task);
void td_missing_fini(td_missing *missing);
