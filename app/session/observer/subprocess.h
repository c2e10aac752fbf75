/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Subprocess: a program that runs for Tapedeck itself, as a compiler does, while the user waits.
 * What it says on standard error is kept. Its other output is dropped. Any thread. */
#pragma once

#include <gio/gio.h>

/* A line on standard error about work that takes a while. On a terminal a count of seconds follows
 * it, until td_progress_end. One at a time. */
typedef struct td_progress {
  gint64 begun_us;
} td_progress;

void td_progress_begin(td_progress *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
void td_progress_end(void);

typedef struct td_subprocess {
  char **argv;        /* argv[0] is a path */
  char **environment; /* NULL: ours */
  const char *folder; /* where it runs; NULL: here */
  unsigned limit_s;   /* after so many seconds SIGALRM ends it; 0: never */
} td_subprocess;

/* td_subprocess_run runs a program to its end. It adds what the program says to `said`, and sets
 * *wait_status as waitpid does. FALSE with the reason: the program did not start. */
gboolean td_subprocess_run(const td_subprocess *subprocess, td_progress *progress, GString *said,
                           int *wait_status, GError **error);
