/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whether a library can be preloaded into a program. Any thread. */
#pragma once

/* td_watchable_problem returns the reason why a library cannot be preloaded into a program, such
 * as "... is a static executable". `name` is the program's path or its name in PATH. Returns
 * NULL if nothing speaks against it. The caller frees the text. */
char *td_watchable_problem(const char *name);
