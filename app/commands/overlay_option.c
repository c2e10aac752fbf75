/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/overlay_option.h"

#include "app/command.h"

#include <string.h>

bool
td_overlay_option_find(const char *command, const char *name, td_overlay_kind *kind) {
  const char *names[TD_N_OVERLAYS + 1] = {NULL};
  *kind = TD_N_OVERLAYS;
  if (!name) return true;
  for (int i = 0; i < TD_N_OVERLAYS; i++) {
    names[i] = td_overlay_name((td_overlay_kind)i);
    if (!strcmp(names[i], name)) *kind = (td_overlay_kind)i;
  }
  return td_command_check_word(command, "--overlay", name, names);
}
