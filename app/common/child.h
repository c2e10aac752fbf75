/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A child process that takes this process's place. It has the same standard files, gets this
 * process's signals, and its exit status becomes this one's. While the child runs, the default
 * main context runs too, so that a hub can serve it. Main thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* Exit statuses of a program that starts another, as in shells and env(1). */
enum {
  TD_EXIT_FAILED = 125,
  TD_EXIT_NOT_EXECUTABLE = 126,
  TD_EXIT_NOT_FOUND = 127,
  TD_EXIT_SIGNAL = 128
};

typedef struct td_child_options {
  char **argv;                               /* argv[0] is looked for in PATH */
  char **environment;                        /* NULL: ours */
  void (*started)(pid_t pid, void *data);    /* the child runs; or NULL */
  void (*signalled)(int number, void *data); /* this process got a signal and sent it on; or NULL */
  int own_signal; /* that is not sent on, or 0; may change while the child runs */
  void *data;
} td_child_options;

/* td_child_expect lets this process hear of its children's ends, if its parent ignored those. */
void td_child_expect(void);

/* td_child_run starts a program and waits for its end. Returns its exit status, or 128 + n if
 * signal n killed it. If the program cannot start, returns 126 or 127 and sets *problem to the
 * reason (free it). */
int td_child_run(const td_child_options *options, char **problem);

/* td_child_spawn starts a program and does not wait for it. Signals of the terminal do not reach
 * it: it has a process group of its own. Its standard input is empty; it can print to standard
 * error alone. Returns 0 or errno. */
int td_child_spawn(char **argv, char **environment, pid_t *pid);
