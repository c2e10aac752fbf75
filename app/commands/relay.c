/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck relay`: the server's end of `tapedeck open ssh://...`. People do not type it. */
#include "app/session/remote/relay.h"
#include "app/command.h"

#include <unistd.h>

int
td_command_relay(int argc, char **argv) {
  const GOptionEntry entries[] = {{0}};
  int status;
  guint64 pid;
  if (!td_command_parse("relay", entries, false, 1, 1, &argc, &argv, &status)) return status;
  if (!g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXINT32, &pid, NULL))
    return td_command_bad_usage("relay", "'%s' is not the number of a process", argv[1]);
  return td_relay_run((guint32)pid, STDIN_FILENO, STDOUT_FILENO) ? TD_EXIT_OK : TD_EXIT_BAD;
}
