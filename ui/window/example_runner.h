/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Records an example for the window. The example runs in a child process, so that a script can
 * never harm the window. Main thread. */
#pragma once

#include <gio/gio.h>

/* td_example_record_async runs an example. td_example_record_finish returns the path of its
 * tape, in the user's cache folder. Cancelling ends the child. */
void td_example_record_async(const char *name, GCancellable *cancellable, GAsyncReadyCallback done,
                             gpointer data);
char *td_example_record_finish(GAsyncResult *result, GError **error);
