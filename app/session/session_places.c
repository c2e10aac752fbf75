/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/session_places.h"

#include "app/common/paths.h"

#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define LAST_PLACE "/tmp"

GStrv
td_session_places_dup(void) {
  g_autoptr(GStrvBuilder) places = g_strv_builder_new();
  const char *runtime = g_getenv("XDG_RUNTIME_DIR");
  bool is_there = runtime && g_path_is_absolute(runtime);
  g_autofree char *place = is_there ? g_canonicalize_filename(runtime, NULL) : NULL;
  if (place && !g_str_equal(place, LAST_PLACE)) g_strv_builder_add(places, place);
  g_strv_builder_add_many(places, td_path_cache(), LAST_PLACE, NULL);
  return g_strv_builder_end(places);
}

static bool
is_session(const char *folder, const char *path) {
  GStatBuf info;
  if (g_lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    return false;
  return g_lstat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

GStrv
td_session_places_find(const char *place) {
  g_autoptr(GStrvBuilder) found = g_strv_builder_new();
  g_autoptr(GDir) dir = g_dir_open(place, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    if (!g_str_has_prefix(name, "tapedeck-") || strlen(name) != strlen("tapedeck-XXXXXX")) continue;
    g_autofree char *folder = g_build_filename(place, name, NULL);
    g_autofree char *path = g_build_filename(folder, "session", NULL);
    if (is_session(folder, path)) g_strv_builder_add(found, path);
  }
  return g_strv_builder_end(found);
}
