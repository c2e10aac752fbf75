/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/tape_at.h"

#include "app/command.h"

#include <inttypes.h>

static bool
parse(td_tape_at *at, const char *command, bool has_json, int argc, char **argv, int *status) {
  gint64 seq = -1;
  GOptionEntry entries[] = {
      {"at", 0, 0, G_OPTION_ARG_INT64, &seq, "The moment after this event", "SEQ"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &at->json, "Print one JSON document", NULL},
      {0}};
  if (!has_json) entries[1] = (GOptionEntry){0};
  if (!td_command_parse(command, entries, false, 1, 1, &argc, &argv, status)) return false;
  *status = TD_EXIT_USAGE;
  if (seq < 0) {
    td_command_bad_usage(command, "--at SEQ is missing: the number of an event, from 0");
    return false;
  }
  at->path = argv[1];
  at->seq = (uint64_t)seq;
  return true;
}

static bool
is_on_tape(const td_tape_at *at) {
  uint64_t length = td_replay_length(at->replay);
  if (at->seq < length) return true;
  if (length == 0)
    td_command_fail(at->path, "the tape has no events");
  else
    td_command_fail(at->path, "there is no event %" PRIu64 "; the tape has events 0 to %" PRIu64,
                    at->seq, length - 1);
  return false;
}

bool
td_tape_at_open(td_tape_at *at, const char *command, bool has_json, int argc, char **argv,
                int *status) {
  td_error error = {0};
  *at = (td_tape_at){0};
  if (!parse(at, command, has_json, argc, argv, status)) return false;
  if (td_replay_open(at->path, NULL, NULL, &at->replay, &error) != TD_OK) {
    td_command_file_error(at->path, &error);
    return false;
  }
  if (is_on_tape(at)) {
    if (td_replay_seek(at->replay, at->seq + 1, &error) == TD_OK) return true;
    td_command_file_error(at->path, &error);
  }
  td_tape_at_close(at);
  return false;
}

void
td_tape_at_close(td_tape_at *at) {
  td_replay_close(at->replay);
  at->replay = NULL;
}

char *
td_thread_label(const td_catalog *catalog, uint32_t thread) {
  if (thread == TD_NONE) return g_strdup("-");
  bool named = thread < catalog->n_threads && *catalog->threads[thread].name;
  return named ? td_catalog_thread_label(catalog, thread) : g_strdup_printf("%u", thread);
}
