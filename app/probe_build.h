/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The observer for a PyTorch: engine/probe/observer.cpp, compiled on this machine against the
 * headers of that very PyTorch, once, and kept in the user's cache folder. */
#pragma once

#include <gio/gio.h>

/* td_probe_build_async finds or makes the observer for a libtorch_cpu.so. Compiling takes up to a
 * minute, says so on standard error, and holds a lock that others who want the same wait for. Main
 * thread. */
void td_probe_build_async(const char *libtorch_cpu, GAsyncReadyCallback done, gpointer data);

/* td_probe_build_finish returns the path of the observer (free it), or NULL with the reason why
 * there is none, in words that follow "level 2, for": no compiler, no headers, they do not fit. */
char *td_probe_build_finish(GAsyncResult *result, GError **error);
