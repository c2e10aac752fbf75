/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/fonts.h"

#include "app/paths.h"

#include <glib.h>

void
td_fonts_find(void) {
  g_autofree char *conf = g_build_filename(td_path_fonts(), "fonts.conf", NULL);
  if (g_file_test(conf, G_FILE_TEST_IS_REGULAR)) g_setenv("FONTCONFIG_FILE", conf, FALSE);
}
