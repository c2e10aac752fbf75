/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long each action in the window keeps the main loop, on a tape. Main thread, before the
 * process has other threads. */
#pragma once

/* td_bench_walk opens a tape in a window of a process of its own, does what people do there, and
 * prints a line for each action. Returns NULL, or why it could not (owned). */
char *td_bench_walk(const char *path);
