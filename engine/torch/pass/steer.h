/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Steering: somebody else than the ready queue's order says which task is popped next. A user does
 * so at a live session, and a schedule does what was chosen in another run. Note [Choices] in
 * ready_queue.h says what is legal. Until somebody chooses, a pop costs one load. */
#pragma once

#include "engine/torch/pass/schedule.h"

/* td_steer_choose has a task popped next from a queue; it replaces an earlier choice there. A
 * graph_task of TD_NONE: any. It returns NULL, or why that may not be: a sentence, which the caller
 * frees. Any thread that holds no lock of the engine. A td_steering. */
char *td_steer_choose(uint32_t queue, uint32_t node, uint32_t graph_task);

/* td_steer_follow takes a schedule. Before the first pass of the process. */
void td_steer_follow(td_scheduled *choices, size_t n, const char *source);

/* td_steer_poll lets the calling thread stop at the gate if it has a choice of tasks: called
 * before a pop, without a lock. */
void td_steer_poll(td_ready_queue *queue);
