/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whether a library can be preloaded into a program at all. Any thread. */
#pragma once

/* td_watchable_problem says why nothing can be preloaded into the program that `name` stands for in
 * PATH ("... is a static executable"), or NULL where nothing speaks against it. The caller frees.
 */
char *td_watchable_problem(const char *name);
