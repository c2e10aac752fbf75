/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tapes of one `tapedeck record`. Each process writes NAME.PID.tape. When all processes have
 * ended, the tapes get the names that people look for. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_session_tape {
  char *path;      /* (owned) where it is now */
  guint32 rank;    /* or TD_NO_RANK */
  bool runs;       /* the process may still write */
  guint64 gone_ns; /* on the wall clock when its process was gone; 0: not yet */
  bool whole;      /* known once concluded: the process ended its tape properly */
} td_session_tape;

#define TD_NO_RANK G_MAXUINT32

typedef struct td_session_tapes {
  char *path;       /* (owned) what the user asked for: NAME.tape */
  bool overwrite;   /* replace files that have the last names */
  bool keeps_ends;  /* of a pass, a tape may have only the end */
  char *joined;     /* (owned) the tape of all processes, if there are several */
  char *problem;    /* (owned) why there is no joined tape, or NULL */
  char *unread;     /* (owned) why a tape cannot be read, or NULL */
  guint n_empty;    /* processes whose whole tape has no pass */
  guint n_lost;     /* processes that died before their first pass was written */
  GPtrArray *tapes; /* (owned) of td_session_tape, in the order of their processes' hellos */
} td_session_tapes;

void td_session_tapes_init(td_session_tapes *self, const char *path, bool overwrite);
void td_session_tapes_fini(td_session_tapes *self);

/* td_session_tapes_find_taken returns the first name that the recording might need and that
 * exists already, or NULL. The caller frees it. */
char *td_session_tapes_find_taken(const td_session_tapes *self);

/* td_session_tapes_add adds the tape of a process, with a name that no file has yet. */
td_session_tape *td_session_tapes_add(td_session_tapes *self, guint32 pid, guint32 rank);

/* td_session_tapes_conclude removes tapes without a backward pass, and gives the others their
 * last names. It returns the number of processes that remain.
 *
 * A single tape becomes NAME.tape. Several become NAME.rank0.tape and so on, by rank, or
 * NAME.1.tape and so on. NAME.tape is then the tape that joins them. A tape that cannot be
 * renamed keeps its name. */
guint td_session_tapes_conclude(td_session_tapes *self);
