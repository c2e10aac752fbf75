/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/fonts.h"

#include "app/common/paths.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define PLACE "@FONTS@"

/* An old fontconfig knows no folder beside its settings, so they name it in full: they are written
 * anew where the fonts are at another place now. */
static char *
dup_settings(void) {
  const char *folder = td_path_fonts();
  g_autofree char *pattern = g_build_filename(folder, "fonts.conf.in", NULL), *text = NULL;
  if (!g_file_get_contents(pattern, &text, NULL, NULL)) return NULL;
  const char *place = strstr(text, PLACE);
  if (!place) return NULL;
  g_autofree char *name = g_markup_escape_text(folder, -1);
  return g_strdup_printf("%.*s%s%s", (int)(place - text), text, name, place + strlen(PLACE));
}

void
td_fonts_find(void) {
  g_autofree char *settings = g_getenv("FONTCONFIG_FILE") ? NULL : dup_settings();
  if (!settings) return;
  g_autofree char *conf = g_build_filename(td_path_cache(), "fonts.conf", NULL), *before = NULL;
  g_mkdir_with_parents(td_path_cache(), 0700);
  bool is_there = g_file_get_contents(conf, &before, NULL, NULL) && strcmp(before, settings) == 0;
  if (is_there || g_file_set_contents(conf, settings, -1, NULL))
    g_setenv("FONTCONFIG_FILE", conf, TRUE);
}
