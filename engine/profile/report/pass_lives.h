/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lives of the nodes in one graph task, as far as they lie in a stretch of a tape. Read-only
 * once it is made; any number of threads may read it. */
#pragma once

#include "engine/profile/report/lives.h"

typedef struct td_pass_lives {
  uint32_t graph_task;
  td_life *lives; /* (owned) by node, then in time */
  uint32_t n, capacity;
  bool is_known[TD_N_LIFE_PARTS];
  td_knowledge known; /* how the functions are */
} td_pass_lives;

/* td_pass_lives_read goes through the events from `first` to `end`: from the begin of the outermost
 * pass on, if all is to be right. */
void td_pass_lives_read(td_pass_lives *lives, td_tape *tape, uint32_t graph_task, uint64_t first,
                        uint64_t end);
void td_pass_lives_fini(td_pass_lives *lives);

/* td_pass_lives_begin returns the first event of the outermost pass around a graph task that the
 * catalog has. */
uint64_t td_pass_lives_begin(const td_catalog *catalog, uint32_t graph_task);

/* td_pass_lives_find returns the last life of a node, or NULL. */
const td_life *td_pass_lives_find(const td_pass_lives *lives, uint32_t node);
