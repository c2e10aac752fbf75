/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a pass goes on between the things that hooks see: it enters the tape, nodes hand gradients
 * on, tasks run that call no hook. See Note [Reconstruction] in reconstruct.c, whose lock the
 * caller holds. */
#pragma once

#include "engine/probe/reconstruct/thread.h"

/* td_progress_start: no pass is on the tape yet. sums_in_place: a sum goes into the first gradient,
 * as in PyTorch 2. */
void td_progress_start(bool sums_in_place);

/* td_progress_announce puts a pass on the tape unless it is there; the calling thread is its owner.
 * td_progress_announce_for_owner may run on any thread. */
void td_progress_announce(td_rpass *pass);
void td_progress_announce_for_owner(td_rpass *pass);

/* td_progress_give_up marks on the tape that the rules do not explain the pass any further. From
 * here on, only the begins and ends of its nodes go on the tape. */
void td_progress_give_up(td_rpass *pass, const char *why);

/* td_progress_settle: the thread hands on what its last node gave, unless it has done so.
 * td_progress_settle_another does this for one thread that ran a node of the pass; it returns false
 * if there is none. */
void td_progress_settle(td_rthread *thread);
bool td_progress_settle_another(const td_rpass *pass);

/* td_progress_run_silent pops and runs the first task of a queue if no hook will show it. It
 * returns false if a hook will, or the queue is empty. */
bool td_progress_run_silent(td_rqueue *queue);

/* td_progress_capture emits the captures of a task. */
void td_progress_capture(const td_rpass *pass, const td_rtask *task);
