/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Device threads: one for each accelerator, with a ready queue of its own that tasks of all passes
 * go to. Started with the first pass, ended by td_engine_stop. Private to engine/pass. */
#pragma once

#include "engine/pass/ready_queue.h"

/* td_device_threads_start starts them, once, and returns when all of them run. TD_AUTOGRAD with
 * PyTorch's text in the child of a fork that cannot have them: Note [Fork]. Any thread. */
td_status td_device_threads_start(td_error *error);

/* td_device_threads_queue returns a device's ready queue (borrowed, for ever); there is none for
 * TD_CPU, and none where there are no device threads, or no more: NULL. */
td_ready_queue *td_device_threads_queue(td_device device);

/* td_device_threads_announce tells a recording of their queues. */
void td_device_threads_announce(void);

/* td_fork_forbid makes every pass in children of later forks an error; called before the engine
 * starts a thread. Any thread, any number of times.
 *
 * Note [Fork]
 * A child has none of its parent's threads, so a pass that counted on them would wait for ever.
 * Since PyTorch 1.13 a child may run passes as long as its parent had no thread to run them with;
 * before (policy fork_after_cpu off), not after any pass of the parent. */
void td_fork_forbid(void);
