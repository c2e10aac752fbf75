/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A child process that stands in for this one: same standard files, signals handed on, its exit
 * status ours. Main thread, before any other thread is made. */
#pragma once

#include <glib.h>

/* Exit statuses of a program that starts another, as shells and env(1) have them. */
enum {
  TD_EXIT_FAILED = 125,
  TD_EXIT_NOT_EXECUTABLE = 126,
  TD_EXIT_NOT_FOUND = 127,
  TD_EXIT_SIGNAL = 128
};

/* td_child_run starts argv[0] and waits for its end. Returns its exit status, 128 + n where signal
 * n killed it, 126 or 127 where it could not be started: then *problem says why (free it). */
int td_child_run(char **argv, char **problem);
