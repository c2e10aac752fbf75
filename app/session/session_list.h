/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The programs of this user that are being recorded now. It asks the hub of each session. Main
 * thread; nothing blocks. */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

typedef struct td_session_program {
  char *session; /* (owned) the socket of its hub */
  guint32 pid;
  char *tape;     /* (owned) or NULL: no pass has begun yet */
  char *command;  /* (owned) its command line, or NULL */
  gint64 seconds; /* for how long it runs, or -1 */
  bool can_stop;  /* it was recorded with --live */
  guint n_stopped;
} td_session_program;

/* td_session_list_async asks all hubs at once. A hub that is dead, talks nonsense or does not
 * answer within two seconds adds nothing more. td_session_list_finish returns td_session_programs,
 * the youngest first. The caller drops the array. It returns NULL and an error if it was cancelled.
 */
void td_session_list_async(GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
GPtrArray *td_session_list_finish(GAsyncResult *result, GError **error);

/* td_session_list is for commands: it waits for the answers. The caller drops the array. */
GPtrArray *td_session_list(void);

/* td_session_program_is_of tells whether a program is that process, or was started by it, near or
 * far: `tapedeck record` starts torchrun, and that the ranks. */
bool td_session_program_is_of(const td_session_program *program, pid_t pid);
