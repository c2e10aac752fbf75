/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/base/dotted.h"

void
td_dotted_add(GString *line, const char *part) {
  if (part && *part) g_string_append_printf(line, "%s%s", line->len ? " · " : "", part);
}

void
td_dotted_take(GString *line, char *part) {
  td_dotted_add(line, part);
  g_free(part);
}
