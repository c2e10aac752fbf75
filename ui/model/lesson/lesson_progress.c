/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/lesson/lesson_progress.h"

#include "ui/model/base/user_file.h"

static char *
dup_path(void) {
  return g_build_filename(g_get_user_data_dir(), "tapedeck", "course.ini", NULL);
}

td_lesson_progress
td_lesson_progress_read(const char *lesson) {
  g_autofree char *path = dup_path();
  g_autoptr(GKeyFile) file = td_user_file_load(path, NULL);
  td_lesson_progress progress = {0};
  if (!file) return progress;
  progress.step = (guint)MAX(g_key_file_get_integer(file, lesson, "step", NULL), 0);
  progress.is_finished = g_key_file_get_boolean(file, lesson, "finished", NULL);
  return progress;
}

void
td_lesson_progress_write(const char *lesson, const td_lesson_progress *progress) {
  g_autofree char *path = dup_path();
  g_autoptr(GKeyFile) file = td_user_file_load(path, NULL);
  if (!file) return;
  g_key_file_set_integer(file, lesson, "step", (int)progress->step);
  g_key_file_set_boolean(file, lesson, "finished", progress->is_finished);
  td_user_file_save(file, path, NULL);
}
