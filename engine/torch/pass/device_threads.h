/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Device threads: one for each accelerator, with a ready queue of its own (device_queues.h).
 * Started with the first pass, ended by td_device_threads_stop. */
#pragma once

#include "engine/base/status.h"

/* td_device_threads_start starts them, once, and returns when all of them run. TD_AUTOGRAD with
 * PyTorch's text in the child of a fork that cannot have them: Note [Fork] in fork.h. TD_AUTOGRAD
 * with the system's text if a thread cannot be started: then no thread is left. Any thread. */
td_status td_device_threads_start(td_error *error);

/* td_device_threads_stop ends the device threads, if nothing is queued for them. It waits for that,
 * at most 10 seconds, or as many as the environment's TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT says; with
 * 0 it leaves the threads alone. Once; later passes run on their callers' threads. The caller must
 * not hold the GIL, which a thread may need to end. */
void td_device_threads_stop(void);
