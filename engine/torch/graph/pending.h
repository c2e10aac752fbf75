/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Errors of places that cannot return one. While an operation puts itself into the graph, a hook on
 * what it saves may fail, or a view may have lost its history. The thread keeps the first such
 * error until somebody who can return it takes it. The engine does so after each node, the
 * embedding language after each operation. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>

/* td_pending_set keeps a failure (its error is moved out of *error), unless there is one already.
 */
void td_pending_set(td_status status, td_error *error);

/* td_pending_take moves the thread's failure into *error (NULL: away) and returns its status; TD_OK
 * if there is none. */
td_status td_pending_take(td_error *error);

/* td_pending tells whether there is one. */
bool td_pending(void);
