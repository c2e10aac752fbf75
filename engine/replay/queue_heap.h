/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues of a world. A queue has the engine's order (engine/rules/task_order.h), or is
 * first in first out, or last in first out. Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/world.h"
#include "engine/rules/task_order.h"

/* td_queue_enter pushes an entry and ranks it. False without memory. */
bool td_queue_enter(td_world *world, uint32_t queue, td_queue_entry entry);

/* td_queue_append puts an entry behind those of the heap, as a keyframe tells them, and ranks
 * nothing. False without memory. */
bool td_queue_append(td_world *world, uint32_t queue, td_queue_entry entry);

/* td_queue_leave removes the entry of (node, graph_task), or, for node TD_NONE, the first that is a
 * dummy or a shutdown task, into *removed. For graph_task TD_NONE it is one of the node: who pops a
 * task whose graph task is gone cannot tell which that was. False if there is none. Whether it was
 * its turn, `check` judges. */
bool td_queue_leave(td_world *world, uint32_t queue, uint32_t node, uint32_t graph_task,
                    td_queue_entry *removed);
