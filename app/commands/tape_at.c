/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/tape_at.h"

#include "app/command.h"

#define OWN_MAX 4

static bool
parse(td_tape_at *at, const char *command, const GOptionEntry *own, int argc, char **argv,
      int *status) {
  GOptionEntry entries[3 + OWN_MAX + 1] = {TD_MOMENT_ENTRIES(at->options, TD_MOMENT_MIDDLE),
                                           TD_TRUST_ENTRY};
  for (int i = 0; own[i].long_name; i++) {
    g_assert(i < OWN_MAX);
    entries[3 + i] = own[i];
  }
  if (!td_command_parse(command, entries, false, 1, 1, &argc, &argv, status)) return false;
  *status = TD_EXIT_USAGE;
  at->path = argv[1];
  return td_moment_options_check(command, &at->options);
}

static bool
stand_at(td_tape_at *at) {
  return td_moment_replay(at->path, &at->options, false, &at->replay, &at->seq, &at->how);
}

bool
td_tape_at_open(td_tape_at *at, const char *command, const GOptionEntry *own, int argc, char **argv,
                int *status) {
  *at = (td_tape_at){.options = TD_MOMENT_OPTIONS};
  bool is_open = parse(at, command, own, argc, argv, status) && stand_at(at);
  if (!is_open) td_tape_at_close(at);
  return is_open;
}

void
td_tape_at_close(td_tape_at *at) {
  if (at->replay) td_replay_close(at->replay);
  g_clear_pointer(&at->how, g_free);
  td_moment_options_fini(&at->options);
  at->replay = NULL;
}

int
td_tape_at_conclude(td_tape_at *at) {
  td_error error = {0};
  int status = TD_EXIT_OK;
  if (td_tape_check_readable(td_replay_tape(at->replay), &error))
    status = td_command_file_error(at->path, &error);
  td_tape_at_close(at);
  return status;
}
