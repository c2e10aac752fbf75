/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues of a world, with the order of the engine's (03 section 1.5, libstdc++'s heap):
 * shutdown, dummy, tasks of a graph task that is over, deeper graph tasks, higher sequence_nr; or
 * first in first out, or last in first out. Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/world.h"

enum { TD_ENTRY_NODE, TD_ENTRY_DUMMY, TD_ENTRY_SHUTDOWN };

/* td_queue_enter pushes an entry and ranks it; false where the queue is full. */
bool td_queue_enter(td_world *world, uint32_t queue, td_queue_entry entry);

/* td_queue_leave removes the entry of (node, graph_task), or, for node TD_NONE, the first that is a
 * dummy or a shutdown task, into *removed. False where there is none. *was_first tells whether it
 * was its turn. */
bool td_queue_leave(td_world *world, uint32_t queue, uint32_t node, uint32_t graph_task,
                    td_queue_entry *removed, bool *was_first);
