/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gdb as a tool: it stops a process, looks, and lets it go. gdb is no part of Tapedeck and may be
 * missing. Main thread. */
#pragma once

#include "engine/control/line.h"

#include <stdbool.h>
#include <sys/types.h>

/* td_gdb_look has gdb run app/session/attach/stacks.py in a process of this user, and calls `hear`
 * with each line that the script says. The process stands still meanwhile, and goes on afterwards.
 * That is so too at Ctrl+C and after a limit of time. False: gdb could not look. *problem says why
 * in a sentence without a full stop (free it), or is NULL: somebody pressed Ctrl+C. */
bool td_gdb_look(pid_t pid, void (*hear)(const td_line *line, void *data), void *data,
                 char **problem);

extern const char td_attach_stacks[]; /* made of app/session/attach/stacks.py */
