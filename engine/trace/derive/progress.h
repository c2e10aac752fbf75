/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a pass goes on between the things that hooks see: it begins, nodes hand gradients on, tasks
 * run that call no hook. See Note [Derivation] in derive.c. Private to this folder. */
#pragma once

#include "engine/trace/derive/thread.h"

/* td_progress_begin counts what the nodes of a pass wait for, and pushes its root, on the thread
 * that called it. Its call is whole. */
void td_progress_begin(td_derivation *self, uint32_t thread, td_rpass *pass);

/* td_progress_give_up marks on the tape that the rules do not explain the pass any further. From
 * here on, the tape has only its observed events. */
void td_progress_give_up(td_derivation *self, uint32_t thread, td_rpass *pass, const char *why);

/* td_progress_settle: the thread hands on what its last node returned, unless it has done so.
 * td_progress_settle_another does this for one thread that ran a node of the pass; it returns false
 * if there is none. */
void td_progress_settle(td_derivation *self, td_rthread *thread);
bool td_progress_settle_another(td_derivation *self, const td_rpass *pass);

/* td_progress_run_silent pops and runs the first task of a queue if no hook will show it, on that
 * thread. It returns false if a hook will, or the queue is empty. */
bool td_progress_run_silent(td_derivation *self, uint32_t thread, td_rqueue *queue);

/* td_progress_capture writes the captures of a task. */
void td_progress_capture(td_derivation *self, uint32_t thread, const td_rpass *pass,
                         const td_rtask *task);
