/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Opened before]
 * A process that reads a file from a stranger gives up the right to open any file for writing. So
 * it opens the file that it will write before, and what writes tapes finds it here by its path.
 * One path at a time. Main thread; a child of fork inherits it. */
#pragma once

/* td_opened_set says by which descriptor the file at a path is written from now on. Borrows both.
 */
void td_opened_set(const char *path, int fd);

/* td_opened_dup returns a descriptor for the file at that path, which the caller closes, or -1 if
 * another path or none was set. It shares its position with the one that was set. */
int td_opened_dup(const char *path);
