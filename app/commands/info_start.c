/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/info_start.h"

#include "app/print/json_members.h"
#include "engine/base/alloc.h"
#include "ui/geometry/format.h"

#include <stdio.h>

#define IMPORTED 3 /* such a tape begins with the trace */

/* When an event came, or UINT64_MAX. */
static uint64_t
time_of(td_tape *tape, uint64_t seq) {
  td_any_event event;
  return td_tape_get(tape, seq, &event, NULL) == TD_OK ? event.event.time : UINT64_MAX;
}

static uint64_t
first_pass(td_tape *tape, const td_catalog *catalog) {
  return catalog->n_graph_tasks ? time_of(tape, catalog->graph_task_rows[0].begin_seq) : UINT64_MAX;
}

static void
print_time(const char *name, uint64_t ns, const char *reason) {
  char *time = ns == UINT64_MAX ? NULL : td_format_ns((double)ns);
  if (time) printf("%-12s after %s: %s\n", name, time, reason);
  free(time);
}

void
td_info_print_start(td_tape *tape, const td_catalog *catalog) {
  if (catalog->probe_level >= IMPORTED) return;
  print_time("first event", time_of(tape, 0), "until then the recorder makes its file and memory");
  if (catalog->probe_level > 0)
    print_time("first pass", first_pass(tape, catalog),
               "until then the probe records the graph and looks for names");
}

void
td_info_start_json(td_json *json, td_tape *tape, const td_catalog *catalog) {
  td_member_found(json, "first_event_ns", time_of(tape, 0));
  td_member_found(json, "first_pass_ns", first_pass(tape, catalog));
}
