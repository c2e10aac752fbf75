/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands about one instant of a tape share: `FILE --at SEQ`, and names of threads. Main
 * thread. */
#pragma once

#include "engine/replay/replay.h"

#include <glib.h>

/* A replay that stands after event `seq`, as the command line asked. */
typedef struct td_tape_at {
  const char *path; /* (borrowed) from argv */
  uint64_t seq;
  gboolean json;
  td_replay *replay; /* (owned) */
} td_tape_at;

/* td_tape_at_open reads a command's options, opens the tape and seeks. On failure it has told why,
 * and *status is what to exit with; likewise after --help. td_tape_at_close closes. */
bool td_tape_at_open(td_tape_at *at, const char *command, bool has_json, int argc, char **argv,
                     int *status);
void td_tape_at_close(td_tape_at *at);

/* td_thread_label returns a thread's name, or its number where it has none. The caller frees. */
char *td_thread_label(const td_graph *graph, uint32_t thread);
