/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/base/user_file.h"

#include <errno.h>
#include <glib/gstdio.h>

static gboolean
fail(GError **error, int number) {
  g_set_error_literal(error, G_FILE_ERROR, g_file_error_from_errno(number), g_strerror(number));
  return FALSE;
}

static gboolean
put_aside(const char *path, GError **error) {
  g_autofree char *broken = g_strconcat(path, ".broken", NULL);
  return g_rename(path, broken) == 0 || fail(error, errno);
}

GKeyFile *
td_user_file_load(const char *path, GError **error) {
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) trouble = NULL;
  if (g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &trouble) ||
      g_error_matches(trouble, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return g_steal_pointer(&file);
  return put_aside(path, error) ? g_key_file_new() : NULL;
}

gboolean
td_user_file_save(GKeyFile *file, const char *path, GError **error) {
  g_autofree char *group = g_key_file_get_start_group(file);
  g_autofree char *folder = g_path_get_dirname(path);
  if (!group) return g_unlink(path) == 0 || errno == ENOENT || fail(error, errno);
  g_mkdir_with_parents(folder, 0700);
  return g_key_file_save_to_file(file, path, error);
}
