/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/open_remote.h"

#include "app/common/exit.h"
#include "app/common/output_file.h"
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

int
td_open_remote(const char *path, char **arguments, const char *output) {
  td_remote_address address;
  g_autofree char *problem = NULL;
  if (!td_remote_address_parse(path, &address, &problem))
    return td_command_bad_usage("open", "'%s': %s", path, problem);
  g_auto(GStrv) rest = without(arguments, path);
  bool has_window = !address.pid || td_live_has_display();
  int status = !has_window    ? td_command_fail("no display", "a window cannot open here")
               : !address.pid ? td_remote_list(&address)
               : output && td_output_is_taken(output)
                   ? td_command_fail(output, "exists already")
                   : td_remote_session_open(&address, rest, output);
  td_remote_address_fini(&address);
  return status;
}
