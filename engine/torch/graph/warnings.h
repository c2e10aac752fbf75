/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Warnings: what is wrong in a backward pass without ending it. A warning may come on any thread
 * that runs nodes, but only the thread that called backward can show it to the program. So each
 * graph task collects its warnings, and its caller replays them when the pass is over, before the
 * result or the error. A nested pass replays into the pass around it; the outermost pass replays
 * into the process's handler. */
#pragma once

#include "engine/torch/graph/now.h"

#include "engine/base/status.h"

#include <pthread.h>

/* The warnings of one graph task, in order. */
struct td_warnings {
  pthread_mutex_t mutex;    /* guards first */
  struct td_warning *first; /* (owned) */
};

void td_warnings_init(td_warnings *warnings);
void td_warnings_fini(td_warnings *warnings);

/* td_warn warns about a node (or NULL). The calling thread's graph task collects the warning.
 * Outside a pass the handler gets it at once, and an error of the handler is dropped. Any thread,
 * under any lock of the engine but that of the string table. */
void td_warn(const td_node *node, const char *text);

/* td_warning_due tells whether a warning that comes once in the life of a process is due, and notes
 * in *was_said that it came. With td_warnings_set_always(true) it is due each time. Any thread. */
bool td_warning_due(_Atomic bool *was_said);
bool td_warnings_always(void);
void td_warnings_set_always(bool always);

/* td_warning_set_handler sets who gets the warnings of outermost passes; without one they go to
 * stderr. If a handler fails, so does the pass. If the pass failed already, error is NULL: the
 * handler then prints what it would report, and succeeds. Set while the program starts. */
typedef td_status (*td_warning_handler)(const char *text, td_error *error);
void td_warning_set_handler(td_warning_handler handler);

/* td_warnings_replay empties the list, into the pass around this one or into the handler.
 * has_failed tells whether the pass has an error already. Called by the caller of backward. */
td_status td_warnings_replay(td_warnings *warnings, bool has_failed, td_error *error);
