/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The thread pool: runs passes that are nested too deep for the thread that called them, PyTorch's
 * ThreadPoolShared. Its threads are started as they are needed, are never joined, and adopt the
 * device and the queue of the pass's owner, who waits meanwhile. Private to engine/torch/pass.
 *
 * Note [Pool]
 * A nested pass runs on the stack of the node that called it, and stacks are small. So one thread
 * takes at most 60 nested passes. The 61st goes to another thread, whose stack has room for 60
 * more. The pool makes a thread if no idle one is left for a pass. It does not keep a pass alive: a
 * pass that is over by then is thrown away. */
#pragma once

#include "engine/base/status.h"
#include "engine/torch/pass/graph_task_handle.h"

/* td_pool_submit hands a pass, whose root task is in its queue, to the pool. Any thread; the
 * caller then waits for the pass. TD_AUTOGRAD with the system's text if no thread is idle and none
 * can be started. */
td_status td_pool_submit(td_graph_task_handle *graph_task, td_error *error);

/* td_pool_size returns how many threads the pool has made. */
uint32_t td_pool_size(void);
