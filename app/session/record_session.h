/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A session of `tapedeck record`: it runs the command with the probe preloaded, and answers the
 * processes that load PyTorch or Tapedeck's own engine. At the end it knows where their tapes are.
 * Main thread. */
#pragma once

#include "app/session/record_options.h"
#include "app/session/session_tapes.h"

/* Note [From inside]
 * A program may ask to be recorded while it runs: tapedeck.start() in Python. It starts this
 * session, with options->inside, and keeps a pipe to its standard input. The session says two lines
 * of engine/control/line.h on standard output: `probe path=`, the library to load, and `session
 * path=`, where its hub listens. The program loads the probe, which says hello there. The session
 * ends when it reads anything, or the pipe ends. Its last line is `tape path=`, if there is a tape.
 */

/* What the processes of a recording said of themselves. */
typedef struct td_record_outcome {
  guint n_hellos;
  guint n_loaded;    /* processes that loaded PyTorch and never said hello */
  guint n_elsewhere; /* processes that `tapedeck run` records */
  guint32 n_steps;   /* of the process that made most */
  guint32 n_passes;  /* of all processes, recorded or not */
  bool nan_came;     /* in one of them */
  char *problem;     /* (owned) why a process could not write its tape to the end, or NULL */
} td_record_outcome;

/* What became of a session. Initialise it with zeros. */
typedef struct td_record_result {
  int status;    /* the command's, or why it did not run: app/common/child.h */
  char *problem; /* (owned) why nothing ran, or NULL */
  guint n_tapes; /* that remain */
  td_session_tapes tapes;
  td_record_outcome outcome;
} td_record_result;

/* td_record_session_run fills in a result. The options are checked. The announcer lives as long as
 * the process. */
void td_record_session_run(const td_record_options *options, char **command,
                           const td_announcer *announcer, td_record_result *result);
void td_record_result_fini(td_record_result *result);
