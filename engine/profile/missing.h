/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which gradients a waiting task has not got, and who will send them. Private to engine/profile. */
#pragma once

#include "engine/replay/state.h"

typedef struct td_sender {
  uint32_t from;
  uint32_t n_gradients; /* that it still owes */
} td_sender;

typedef struct td_missing {
  td_sender *senders; /* (owned) by node */
  uint32_t n;
} td_missing;

/* td_missing_find lists the senders of a task's missing gradients. A sender has an edge to the
 * task's node, takes part in its graph task, and still owes a gradient. td_missing_fini frees. */
void td_missing_find(td_missing *missing, const td_catalog *catalog, const td_state *state,
                     const td_task_now *task);
void td_missing_fini(td_missing *missing);
