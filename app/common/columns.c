/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/columns.h"

#include <glib.h>
#include <stdio.h>

void
td_column_print(const char *text, int width) {
  int pad = width - (int)g_utf8_strlen(text, -1);
  printf("%*s%s  ", MAX(pad, 0), "", text);
}
