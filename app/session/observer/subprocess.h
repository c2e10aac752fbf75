/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Subprocess: a program that runs for Tapedeck itself, as a compiler does, while the user waits.
 * What it says on standard error is kept. Its other output is dropped. Any thread. */
#pragma once

#include "app/common/announcer.h"

#include <gio/gio.h>

/* Work that its announcer counts the seconds of. */
typedef struct td_progress {
  const td_announcer *announcer; /* (borrowed) */
  gint64 begun_us;
} td_progress;

typedef struct td_subprocess {
  char **argv;        /* argv[0] is a path */
  char **environment; /* NULL: ours */
  const char *folder; /* where it runs; NULL: here */
  unsigned limit_s;   /* after so many seconds SIGALRM ends it; 0: never */
} td_subprocess;

/* td_subprocess_run runs a program to its end. It adds what the program says to `said`, and sets
 * *wait_status as waitpid does. FALSE with the reason: the program did not start. */
gboolean td_subprocess_run(const td_subprocess *subprocess, const td_progress *progress,
                           GString *said, int *wait_status, GError **error);
