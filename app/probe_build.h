/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The observer for a PyTorch. This compiles engine/probe/observer.cpp on this machine, against
 * the headers of that very PyTorch. It does so once, and keeps the result in the user's cache
 * folder. */
#pragma once

#include <gio/gio.h>

/* td_probe_build_async finds or makes the observer for a libtorch_cpu.so. Compiling takes up to
 * a minute; a line on standard error says so. A lock makes others wait who need the same
 * observer. Main thread. */
void td_probe_build_async(const char *libtorch_cpu, GAsyncReadyCallback done, gpointer data);

/* td_probe_build_finish returns the path of the observer (free it). If there is none, it returns
 * NULL with the reason: no compiler, no headers, headers of another version. The words of the
 * reason follow "level 2, for". */
char *td_probe_build_finish(GAsyncResult *result, GError **error);
