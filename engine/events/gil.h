/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for Python's global lock, which is no mutex: it is a word that CPython guards by one.
 *
 * Note [Watching the GIL]
 * Problem: a thread that takes the GIL should cost nothing if the lock is free. If it is not, the
 * tape should say so before the wait, and name the thread that has the GIL.
 *
 * Constraint: no public function tells who has the GIL, and each version keeps it elsewhere.
 *
 * Trick: whoever finds the GIL taken sleeps in pthread_cond_timedwait, and CPython calls that for
 * nothing else. Whoever takes the GIL or gives it back unlocks the mutex of the GIL. So these two
 * calls of Python are redirected. The last thread that unlocked the mutex has the GIL, if somebody
 * has it, and the C library keeps a mutex's owner. A thread that waits looks again every 5 ms,
 * because Python does: then lock_held names another holder. td_gil_watch gives the GIL back and
 * takes it again, to see which mutex it is. */
#pragma once

#include <stdbool.h>

/* td_gil_watch begins to watch the GIL of this process, if there is a Python that has one. The
 * caller holds the GIL; this gives it back for a moment. `library` is part of the name of the file
 * whose threads take the GIL. There, threads that had the GIL and never emitted get names from
 * `dup_name`, which is called with the GIL; the result is freed. Once in a process. */
void td_gil_watch(const char *library, char *(*dup_name)(int tid));

/* td_gil_tell says on the tape whether waits for the GIL are on it: the setting "gil". */
void td_gil_tell(void);

/* td_gil_enter and td_gil_leave say that the calling thread works for backward passes. Only waits
 * of such threads are on the tape. Calls may be inside one another. */
void td_gil_enter(void);
void td_gil_leave(void);

/* td_gil_pause tells whether waits shall be left out for a while. Any thread. */
void td_gil_pause(bool pauses);
