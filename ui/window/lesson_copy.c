/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/lesson_copy.h"

#include "app/common/paths.h"

#include <glib/gstdio.h>

static char *
dup_path(const char *folder, const char *name) {
  g_autofree char *file = g_strconcat(name, ".py", NULL);
  return g_build_filename(folder, file, NULL);
}

static char *
dup_folder(void) {
  return g_build_filename(g_get_user_data_dir(), "tapedeck", "lessons", NULL);
}

char *
td_lesson_copy_find(const char *name) {
  g_autofree char *folder = dup_folder(), *path = dup_path(folder, name);
  return g_file_test(path, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}

/* The script that ships may be one that nobody may write: so its text alone is copied. */
char *
td_lesson_copy_make(const char *name, GError **error) {
  char *there = td_lesson_copy_find(name);
  if (there) return there;
  gsize length;
  g_autofree char *text = NULL, *from = dup_path(td_path_lessons(), name);
  g_autofree char *folder = dup_folder(), *to = dup_path(folder, name);
  g_mkdir_with_parents(folder, 0700);
  gboolean is_made = g_file_get_contents(from, &text, &length, error) &&
                     g_file_set_contents(to, text, (gssize)length, error);
  return is_made ? g_steal_pointer(&to) : NULL;
}

void
td_lesson_copy_remove(const char *name) {
  g_autofree char *folder = dup_folder(), *path = dup_path(folder, name);
  g_unlink(path);
}
