/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that work for the window. A program must not leave `main` while one of them is at work:
 * the libraries then free what the thread still uses. */
#pragma once

#include <gio/gio.h>

/* td_worker_start is g_task_run_in_thread, and counts. Any thread. */
void td_worker_start(GTask *task, GTaskThreadFunc work);

/* td_worker_is_busy says whether a worker is at work. Any thread. */
gboolean td_worker_is_busy(void);

/* td_worker_is_awaited says whether a worker is at work, or what it brings was not taken yet. Main
 * thread. */
gboolean td_worker_is_awaited(void);
