/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work on a tape in a child that has given up all other rights (app/commands/confine.h). So a
 * command can still name or remove the file that the child writes, and the child can only write it.
 * Main thread. */
#pragma once

/* td_confined_child_run starts a child. It calls `open` with all rights, and then `work` without
 * them. Returns what `work` returned, or `open` if that is not TD_EXIT_OK: an exit status. If the
 * child could not run or a signal ended it, returns TD_EXIT_USAGE, and has printed why. The child
 * ends with this process. */
int td_confined_child_run(int (*open)(void *data), int (*work)(void *data), void *data);
