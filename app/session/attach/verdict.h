/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One sentence on why a program may hang, read off its threads. It says no more than they show. */
#pragma once

#include "app/session/attach/threads.h"

/* td_attach_verdict returns a sentence with its full stop, or NULL: the threads tell nothing. The
 * caller frees it. */
char *td_attach_verdict(const td_attach_threads *threads);

/* td_attach_place returns the innermost line of the program's own code in Python, without the
 * folder: "train.py:12". If all lines are of libraries, it is one of them; NULL without lines. The
 * caller frees it. */
char *td_attach_place(const td_attach_thread *thread);
