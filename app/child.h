/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A child process that stands in for this one: same standard files, signals handed on, its exit
 * status ours. While it runs the default main context does, so that a hub can serve it. Main
 * thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* Exit statuses of a program that starts another, as shells and env(1) have them. */
enum {
  TD_EXIT_FAILED = 125,
  TD_EXIT_NOT_EXECUTABLE = 126,
  TD_EXIT_NOT_FOUND = 127,
  TD_EXIT_SIGNAL = 128
};

typedef struct td_child_options {
  char **argv;                               /* argv[0] is looked for in PATH */
  char **environment;                        /* NULL: ours */
  void (*signalled)(int number, void *data); /* a signal came, and went to the child; or NULL */
  void *data;
} td_child_options;

/* td_child_run starts a program and waits for its end. Returns its exit status, 128 + n where
 * signal n killed it, 126 or 127 where it could not be started: then *problem says why (free it).
 */
int td_child_run(const td_child_options *options, char **problem);

/* td_child_spawn starts a program that is not waited for here, out of the terminal's reach: in a
 * process group of its own, with nothing to read and nowhere to print but standard error. Returns 0
 * or errno. */
int td_child_spawn(char **argv, char **environment, pid_t *pid);
