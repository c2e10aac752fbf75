/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads of Python on the tape: their names, and their waits for the GIL. The GIL is held. */
#pragma once

/* tdpy_thread_name names the calling thread as Python's module `threading` does, the first time. An
 * error is no reason to fail a pass. */
void tdpy_thread_name(void);

/* tdpy_threads_watch_gil begins to watch the GIL, the first time. It says so on the tape. */
void tdpy_threads_watch_gil(void);
