/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lists inside a world: tasks of a node, arrivals of a task, parked tasks, pairs set aside.
 * Entries come from pools whose free lists are last-in first-out, so that equal histories give
 * equal bytes. Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/world.h"

/* td_task_find returns the index of the live task of (node, graph_task), or TD_NONE. */
uint32_t td_task_find(const td_world *world, uint32_t node, uint32_t graph_task);

/* td_task_obtain finds that task or makes it. TD_NONE without memory. */
uint32_t td_task_obtain(td_world *world, uint32_t node, uint32_t graph_task);

/* td_task_drop unparks a task and gives it and its arrivals back. */
void td_task_drop(td_world *world, uint32_t task);

/* td_task_finish does so too, unless its pair was set aside: then the task stays, and its pair is
 * over. */
void td_task_finish(td_world *world, uint32_t task);

/* td_pair_take makes the pair of a node and a graph task, or TD_NONE, the node's own: Note [Pairs]
 * in state.h. Whoever writes what a node does in a graph task takes the pair first. */
void td_pair_take(td_world *world, uint32_t node, uint32_t graph_task);

void td_task_park(td_world *world, uint32_t task);
void td_task_unpark(td_world *world, uint32_t task);

/* td_arrival_add puts a gradient into a task's input buffer. False without memory. */
bool td_arrival_add(td_world *world, uint32_t task, const td_event_buffer_add *event);
