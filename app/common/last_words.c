/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/last_words.h"

#include <glib.h>

char *
td_last_words(const char *said) {
  g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
  const char *last = NULL;
  for (char **line = lines; *line; line++)
    if (**line && !g_str_has_prefix(*line, "tapedeck: ")) last = *line;
  return g_strdup(last);
}
