/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Final callbacks of a backward pass. The thread that finishes the pass calls each once, in the
 * order in which the program queued them. They see the thread-local settings of the pass's caller.
 * A callback may queue further ones. */
#pragma once

#include "engine/torch/pass/final_callback.h"
#include "engine/torch/pass/graph_task.h"

/* td_final_callback_queue adds a callback, which it takes, to the calling thread's innermost pass.
 * TD_AUTOGRAD with PyTorch's text outside a pass; the callback is then freed. */
td_status td_final_callback_queue(td_final_callback *callback, td_error *error);

/* td_final_callbacks_run calls them until there are none or one fails. The caller holds the graph
 * task's lock, as in PyTorch, and no other: Note [Lock order of callbacks]. */
td_status td_final_callbacks_run(td_graph_task *graph_task, td_error *error);
