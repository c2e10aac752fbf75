/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Final callbacks: called once a backward pass is through, in the order in which they were queued,
 * by the thread that finished it, with the thread-local settings of the pass's caller; a callback
 * may queue further ones. */
#pragma once

#include "engine/pass/graph_task.h"

struct td_final_callback {
  td_status (*call)(td_final_callback *callback, td_error *error);
  void (*free)(td_final_callback *callback); /* frees the callback too */
  char *owner;                               /* (owned) a name for profiles, or NULL */
  td_final_callback *next;
};

/* td_final_callback_queue adds a callback, which it takes, to the calling thread's innermost pass.
 * TD_AUTOGRAD with PyTorch's text outside a pass; the callback is then freed. */
td_status td_final_callback_queue(td_final_callback *callback, td_error *error);

/* For the graph task alone. td_final_callbacks_run calls them until there are none or one fails;
 * the graph task's lock is held, as in PyTorch, and no other: Note [Lock order of callbacks]. */
td_status td_final_callbacks_run(td_graph_task *graph_task, td_error *error);
void td_final_callbacks_free(td_graph_task *graph_task);
