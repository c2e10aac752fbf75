/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Records a program for the window, with `tapedeck record` in a process of its own. Main thread. */
#pragma once

#include <gio/gio.h>

typedef struct TdProgram {
  const char *command; /* as in a shell, without variables and pipes */
  const char *folder;  /* where it runs */
  gboolean finds_nan;  /* looks for NaN and Inf */
  gboolean is_live;    /* a window of its own shows it, stopped at its first event */
} TdProgram;

/* td_program_record_async starts a program. Cancelling interrupts the program as Ctrl+C does, and
 * still waits for its tape. A program that goes on gets SIGTERM after five seconds, and again. What
 * the program prints goes where the window's output goes. What it says of errors is heard. Programs
 * that it started may outlive it: nobody waits for them.
 *
 * td_program_record_finish returns the path of the tape, in the user's data folder. If the program
 * failed, there may be a tape too: then *problem has what the program said last, to be freed.
 * Without a tape it returns NULL and sets an error. */
void td_program_record_async(const TdProgram *program, GCancellable *cancellable,
                             GAsyncReadyCallback done, gpointer data);
char *td_program_record_finish(GAsyncResult *result, char **problem, GError **error);
