/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tapes of one `tapedeck record`: each process writes NAME.PID.tape, and when all is over the
 * tapes get the names that people look for. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_session_tape {
  char *path;   /* (owned) where it is now */
  guint32 rank; /* or TD_NO_RANK */
  bool begun;   /* the process has begun to write it */
  bool whole;   /* once concluded: it was ended properly */
} td_session_tape;

#define TD_NO_RANK G_MAXUINT32

typedef struct td_session_tapes {
  char *path;       /* (owned) what the user asked for: NAME.tape */
  bool overwrite;   /* what has the last names already */
  char *joined;     /* (owned) the tape of all processes, where there are several */
  char *problem;    /* (owned) why there is no joined tape, or NULL */
  guint n_lost;     /* processes that died before their first pass was written */
  GPtrArray *tapes; /* (owned) of td_session_tape, in the order of their processes' hellos */
} td_session_tapes;

void td_session_tapes_init(td_session_tapes *self, const char *path, bool overwrite);
void td_session_tapes_fini(td_session_tapes *self);

/* td_session_tapes_find_taken returns the first name that a recording might want and that exists
 * already, or NULL. The caller frees. */
char *td_session_tapes_find_taken(const td_session_tapes *self);

/* td_session_tapes_add makes room for a process's tape and chooses a name that nothing has. */
td_session_tape *td_session_tapes_add(td_session_tapes *self, guint32 pid, guint32 rank);

/* td_session_tapes_conclude drops what has no backward pass on it, and gives the rest their last
 * names: NAME.tape where there is one; where there are several NAME.rank0.tape... or
 * NAME.1.tape..., by rank, and NAME.tape for what they are joined into. Returns how many processes
 * there are. What cannot be renamed keeps its name. */
guint td_session_tapes_conclude(td_session_tapes *self);
