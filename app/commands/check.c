/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check.h"
#include "engine/profile/why/conflicts.h"
#include "engine/profile/why/why.h"

#include "app/command.h"
#include "engine/replay/catalog_visit.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct reporter {
  const char *path;
  td_tape *tape;
} reporter;

static void
print_violation(const td_violation *violation, void *data) {
  const reporter *reporter = data;
  td_any_event event;
  const char *kind = "end of the tape";
  if (td_tape_get(reporter->tape, violation->seq, &event, NULL) == TD_OK)
    kind = td_event_type_get(event.event.kind)->name;
  printf("%s: event %" PRIu64 " %s: %s: %s\n", reporter->path, violation->seq, kind,
         violation->rule, violation->text);
}

static void
print_unjudged(const char *rule, const char *reason, void *data) {
  printf("%s: not judged: %s: %s\n", (const char *)data, rule, reason);
}

static void
print_summary(const char *path, const td_tape_info *info, uint64_t n_violations) {
  uint32_t n_unjudged = td_check_find_unjudged(info, print_unjudged, (void *)path);
  char *events = td_format_many(info->n_events, "event", "events");
  if (n_violations == 0 && n_unjudged == 0)
    printf("%s: %s, every rule holds\n", path, events);
  else if (n_violations == 0)
    printf("%s: %s, every judged rule holds; %u cannot be judged\n", path, events, n_unjudged);
  free(events);
}

static void
print_conflict(const char *path, const td_catalog *catalog, td_tape *tape, uint64_t seq) {
  td_any_event event;
  if (td_tape_get(tape, seq, &event, NULL) || event.event.kind != TD_EVENT_stream_conflict) return;
  char *what = td_why_describe(catalog, tape, &event),
       *meaning = td_why_mean(catalog, tape, &event);
  printf("%s: event %" PRIu64 " stream_conflict: %s. %s\n", path, seq, what, meaning);
  free(what);
  free(meaning);
}

/* A missing wait is the program's mistake, not the engine's. So it is printed and breaks no rule.
 */
static td_status
print_conflicts(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
                td_error *error) {
  const reporter *reporter = data;
  for (uint64_t seq = first; seq < end; seq++)
    print_conflict(reporter->path, catalog, reporter->tape, seq);
  return td_tape_check_readable(reporter->tape, error);
}

static int
check(const char *path) {
  td_error error = {0};
  reporter reporter = {.path = path};
  uint64_t n_violations = 0;
  td_status status = td_tape_open(path, &reporter.tape, &error);
  if (status == TD_OK)
    status = td_check_run(reporter.tape, print_violation, &reporter, &n_violations, &error);
  if (status == TD_OK) {
    const td_tape_info *info = td_tape_info_get(reporter.tape);
    print_summary(path, info, n_violations);
    if (info->n_by_kind[TD_EVENT_stream_conflict])
      status =
          td_catalog_visit(reporter.tape, 0, info->n_events, print_conflicts, &reporter, &error);
  }
  td_tape_close(reporter.tape);
  if (status != TD_OK) return td_command_file_error(path, &error);
  return n_violations ? TD_EXIT_BAD : TD_EXIT_OK;
}

int
td_command_check(int argc, char **argv) {
  const GOptionEntry entries[] = {TD_TRUST_ENTRY, {0}};
  int status;
  if (!td_command_parse("check", entries, false, 1, 1, &argc, &argv, &status)) return status;
  return check(argv[1]);
}
