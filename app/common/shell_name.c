/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/shell_name.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

char *
td_shell_name(const char *path) {
  g_autofree char *here = g_get_current_dir();
  gsize length = strlen(here);
  bool below = strncmp(path, here, length) == 0 && path[length] == '/';
  const char *name = below ? path + length + 1 : path;
  return strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "/._-+=:,@%") == strlen(name)
             ? g_strdup(name)
             : g_shell_quote(name);
}
