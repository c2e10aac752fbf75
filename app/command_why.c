/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/why.h"

#include "app/command.h"
#include "app/moment_replay.h"
#include "app/tape_at.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The whole tape, if what led to the event may lie outside its segment. */
static bool
read_enough(td_tape_at *at) {
  return td_moment_tells_why(at->replay, at->seq) ||
         td_moment_replay_again(at->path, &at->options, &at->replay, &at->seq, &at->how);
}

int
td_command_why(int argc, char **argv) {
  td_tape_at at;
  td_error error = {0};
  char *text;
  int status;
  if (!td_tape_at_open(&at, "why", false, argc, argv, &status)) return status;
  if (!read_enough(&at)) {
    td_tape_at_close(&at);
    return TD_EXIT_USAGE;
  }
  if (td_why_at(at.replay, at.seq, &text, &error) == TD_OK) {
    if (at.how) printf("After event %" PRIu64 ", %s:\n", at.seq, at.how);
    puts(text);
    free(text);
    return td_tape_at_conclude(&at);
  }
  status = td_command_file_error(at.path, &error);
  td_tape_at_close(&at);
  return status;
}
