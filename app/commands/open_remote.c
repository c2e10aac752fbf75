/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/open_remote.h"

#include "app/common/exit.h"
#include "app/common/output_file.h"
#include "app/print/line_announcer.h"
#include "app/session/live.h"
#include "app/session/remote/remote_list.h"
#include "app/session/remote/remote_session.h"

#include <string.h>

static GStrv
without(char **arguments, const char *path) {
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  for (char **word = arguments; *word; word++)
    if (strcmp(*word, path) != 0 && strcmp(*word, "--") != 0) g_strv_builder_add(words, *word);
  return g_strv_builder_end(words);
}

static int
list(const td_remote_address *address) {
  g_autofree char *problem = NULL;
  if (td_remote_list(address, stdout, &problem)) return TD_EXIT_OK;
  return td_command_fail(address->label, "%s", problem);
}

static int
show(const td_remote_address *address, char **arguments, const char *output) {
  g_autofree char *problem = NULL;
  int status = TD_EXIT_USAGE;
  if (!td_live_has_display()) return td_command_fail("no display", "a window cannot open here");
  if (output && td_output_is_taken(output)) return td_command_fail(output, "exists already");
  td_remote_session_open(address, arguments, output, td_line_announcer_get(), &status, &problem);
  if (problem) td_command_fail(address->label, "%s", problem);
  return status;
}

int
td_open_remote(const char *path, char **arguments, const char *output) {
  td_remote_address address;
  g_autofree char *problem = NULL;
  if (!td_remote_address_parse(path, &address, &problem))
    return td_command_bad_usage("open", "'%s': %s", path, problem);
  g_auto(GStrv) rest = without(arguments, path);
  int status = address.pid ? show(&address, rest, output) : list(&address);
  td_remote_address_fini(&address);
  return status;
}
