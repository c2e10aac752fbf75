/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work on a tape in a child that has given up all other rights (app/commands/confine.h). So a
 * command can still name or remove the file that the child writes, and the child can only write it.
 * Main thread. */
#pragma once

/* td_confined_child_run starts a child. It calls `open`, if that is not NULL, with all rights, and
 * then `work` without them. Returns what `work` returned, or `open` if that is not TD_EXIT_OK: an
 * exit status. If the child could not run or a signal ended it, returns TD_EXIT_USAGE, and has
 * printed why. The child ends with this process. */
int td_confined_child_run(int (*open)(void *data), int (*work)(void *data), void *data);

/* What td_confined_child_write calls in the child: `part` is the path of the file that `fd` has
 * open. td_opened_dup knows it. */
typedef int (*td_confined_fill)(const char *part, int fd, void *data);

/* td_confined_child_write has a child fill a new file, and gives the file the name `output` if
 * `fill` returned TD_EXIT_OK. Else nothing is left of it. Returns an exit status, and has printed
 * what went wrong with the file. */
int td_confined_child_write(const char *output, td_confined_fill fill, void *data);
