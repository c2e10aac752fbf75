/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands that print one moment of a tape share: its options. Main thread. */
#pragma once

#include "app/common/moment_replay.h"

/* A replay that stands after event `seq`, which the command line names or Tapedeck chose. */
typedef struct td_tape_at {
  const char *path; /* (borrowed) from argv */
  uint64_t seq;
  char *how; /* (owned) of td_moment_find */
  td_moment_options options;
  td_replay *replay; /* (owned) */
} td_tape_at;

/* td_tape_at_open reads a command's options, opens the tape and seeks. `own` are those that other
 * commands do not have, up to four, and an entry of zeros. If td_tape_at_open returns false,
 * *status is the exit status: it has printed the error, or --help. td_tape_at_close frees what
 * it opened. */
bool td_tape_at_open(td_tape_at *at, const char *command, const GOptionEntry *own, int argc,
                     char **argv, int *status);
void td_tape_at_close(td_tape_at *at);

/* td_tape_at_conclude closes it too. A command calls it after it has printed what
 * it read, and returns its result. If the tape could not be read to the end, that is an error. */
int td_tape_at_conclude(td_tape_at *at);
