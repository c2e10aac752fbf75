/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node waits for at a moment: the node whose gradient is missing. That one may wait for
 * another, and so on to one that runs or lies in a queue. Private to engine/profile/chain. One
 * thread. */
#pragma once

#include "engine/profile/chain/chain_walk.h"

/* td_chain_walk_missing adds a step for each node that is waited for, with the event of the moment,
 * where the replay stands. It returns the last of them: its task lies in *queue, or
 * if that is TD_NONE, a thread is at it. If nobody owes `node` a gradient, it returns `node`. */
uint32_t td_chain_walk_missing(td_chain_walk *walk, uint32_t node, uint32_t graph_task,
                               uint32_t *queue);
