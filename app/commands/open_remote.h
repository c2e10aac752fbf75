/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck open` with an address of another machine in place of a tape. Main thread. */
#pragma once

#include <glib.h>

/* td_open_remote opens the program at the address `path`, or lists those there. The window gets
 * `arguments`, those of the command line, without the address. Returns the exit status. */
int td_open_remote(const char *path, char **arguments, const char *output);
