/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/commands/tape_at.h"
#include "app/print/state_json.h"
#include "app/print/state_text.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void
print_text(const td_tape_at *at) {
  const td_state *state = td_replay_state(at->replay);
  char *time = td_format_ns((double)state->header->time_ns);
  printf("After event %" PRIu64 "%s%s, at %s\n", at->seq, at->how ? ", " : "",
         at->how ? at->how : "", time);
  free(time);
  td_state_print_text(at->replay);
}

int
td_command_state(int argc, char **argv) {
  gboolean as_json = FALSE;
  const GOptionEntry own[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL}, {0}};
  td_tape_at at;
  int status;
  if (!td_tape_at_open(&at, "state", own, argc, argv, &status)) return status;
  if (as_json)
    td_state_print_json(at.replay, at.seq, stdout);
  else
    print_text(&at);
  return td_tape_at_conclude(&at);
}
