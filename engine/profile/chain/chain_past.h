/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a task came to be where it is: back along the last thing that it waited for. Private to
 * engine/profile/chain. One thread. */
#pragma once

#include "engine/profile/chain/chain_walk.h"

/* What a walk looks for next about a task. */
typedef enum td_chain_goal {
  TD_CHAIN_GOAL_run,      /* when it left its queue */
  TD_CHAIN_GOAL_push,     /* when it entered its queue, and what left the queue since */
  TD_CHAIN_GOAL_gradient, /* its last gradient */
} td_chain_goal;

/* td_chain_walk_past goes on from a task to the begin of its pass, and adds the last step. Of a
 * task that lies in a queue, `queue` is that one. If its pass runs inside a node, the walk goes on
 * with that node. */
void td_chain_walk_past(td_chain_walk *walk, uint32_t node, uint32_t graph_task, uint32_t queue,
                        td_chain_goal goal);

/* td_chain_walk_ended does the same from the node that ended last in a graph task. */
void td_chain_walk_ended(td_chain_walk *walk, uint32_t graph_task);
