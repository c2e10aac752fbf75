/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The last line of `tapedeck record`: where the tapes are, or why there are none. Main thread. */
#pragma once

#include "app/session/session_tapes.h"
#include "app/session/steps_options.h"

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

/* td_record_report_tapes names the tapes, which are concluded and of which there is at least one.
 */
void td_record_report_tapes(const td_record_outcome *outcome, const td_session_tapes *tapes,
                            const td_steps_choice *steps);

/* td_record_report_nothing says why no tape is left. `program` is the first word of the command. */
void td_record_report_nothing(const td_record_outcome *outcome, const td_session_tapes *tapes,
                              const td_steps_choice *steps, const char *program);
