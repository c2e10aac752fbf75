/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One process as `tapedeck attach` sees it: what it says of itself and its tape, or what gdb finds.
 * Main thread. */
#pragma once

#include "app/session/attach/threads.h"
#include "app/session/session_list.h"
#include "engine/replay/replay.h"

typedef struct td_attach_process {
  guint32 pid;
  char *command;                     /* (owned) or NULL */
  const td_session_program *program; /* (borrowed) NULL: nobody records it */
  td_attach_threads *threads;        /* (owned) or NULL */
  char *silence;                     /* (owned) why there are no threads, or NULL */
  td_replay *replay;                 /* (owned) at the end of its tape, or NULL */
  uint64_t seq;                      /* of the event there */
  double looked_s;                   /* for how long gdb held it */
} td_attach_process;

/* td_attach_process_ask asks a recorded program where it is. What the program has emitted is on its
 * tape then. The program of the list must live as long. */
td_attach_process *td_attach_process_ask(const td_session_program *program);

/* td_attach_process_take_replay takes a replay of its tape, at the end of what was read. `seq` is
 * the event there. */
void td_attach_process_take_replay(td_attach_process *self, td_replay *replay, uint64_t seq);

/* td_attach_process_look has gdb look into a process. NULL: Ctrl+C. */
td_attach_process *td_attach_process_look(pid_t pid);

/* td_attach_process_age_ns returns how long ago its tape's last event was. */
gint64 td_attach_process_age_ns(const td_attach_process *self);

/* td_attach_process_rank returns its rank by its tape, or -1. */
int td_attach_process_rank(const td_attach_process *self);

void td_attach_process_free(gpointer self);
