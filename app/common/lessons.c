/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/lessons.h"

#include "app/common/last_words.h"
#include "app/common/paths.h"

#include <signal.h>
#include <string.h>

#define SUFFIX ".lesson"

static int
compare_numbers(gconstpointer a, gconstpointer b) {
  const td_lesson *first = *(const td_lesson *const *)a, *second = *(const td_lesson *const *)b;
  return first->number - second->number;
}

static td_lesson *
load(const char *path, const char *language, GError **error) {
  td_lesson *lesson = td_lesson_load(path, language, error);
  if (!lesson) g_prefix_error(error, "%s: ", path);
  return lesson;
}

GPtrArray *
td_lessons_load(const char *language, GError **error) {
  g_autoptr(GDir) folder = g_dir_open(td_path_lessons(), 0, error);
  if (!folder) return NULL;
  g_autoptr(GPtrArray) lessons = g_ptr_array_new_with_free_func((GDestroyNotify)td_lesson_free);
  for (const char *name; (name = g_dir_read_name(folder));) {
    if (!g_str_has_suffix(name, SUFFIX)) continue;
    g_autofree char *path = g_build_filename(td_path_lessons(), name, NULL);
    td_lesson *lesson = load(path, language, error);
    if (!lesson) return NULL;
    g_ptr_array_add(lessons, lesson);
  }
  g_ptr_array_sort(lessons, compare_numbers);
  return g_steal_pointer(&lessons);
}

td_lesson *
td_lessons_find(const char *name, const char *language, GError **error) {
  if (g_str_has_suffix(name, SUFFIX)) return load(name, language, error);
  g_autofree char *file = g_strconcat(name, SUFFIX, NULL);
  g_autofree char *path = g_build_filename(td_path_lessons(), file, NULL);
  if (!strchr(name, '/') && g_file_test(path, G_FILE_TEST_EXISTS))
    return load(path, language, error);
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
              "no lesson is called '%s'; tapedeck lesson list has them", name);
  return NULL;
}

static GStrv
dup_command(const td_lesson *lesson, const char *scheduler, const char *tape) {
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  g_strv_builder_add_many(words, td_path_program(), "run", "--force", "-o", tape, NULL);
  g_strv_builder_addv(words, (const char **)lesson->run);
  if (scheduler) g_strv_builder_add_many(words, "--scheduler", scheduler, NULL);
  g_strv_builder_add(words, lesson->script);
  return g_strv_builder_end(words);
}

/* Waits for the script. What it prints is nobody's business, but for its last words. */
static gboolean
run(const td_lesson *lesson, char **command, GCancellable *cancellable, GError **error) {
  const GSubprocessFlags flags = G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE;
  g_autofree char *err = NULL;
  g_autoptr(GSubprocess) child = g_subprocess_newv((const char *const *)command, flags, error);
  if (!child) return FALSE;
  if (!g_subprocess_communicate_utf8(child, NULL, cancellable, NULL, &err, error)) {
    g_subprocess_send_signal(child, SIGTERM);
    g_subprocess_wait(child, NULL, NULL);
    return FALSE;
  }
  if (g_subprocess_get_successful(child)) return TRUE;
  g_autofree char *reason = td_last_words(err);
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s failed: %s", lesson->script,
              reason ? reason : g_strchomp(err));
  return FALSE;
}

char *
td_lessons_record(const td_lesson *lesson, const char *scheduler, GCancellable *cancellable,
                  GError **error) {
  g_autofree char *file = g_strdup_printf("lesson-%s%s%s.tape", lesson->name, scheduler ? "-" : "",
                                          scheduler ? scheduler : "");
  g_autofree char *tape = g_build_filename(td_path_cache(), file, NULL);
  g_auto(GStrv) command = dup_command(lesson, scheduler, tape);
  if (!g_file_test(lesson->script, G_FILE_TEST_EXISTS)) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: no such file", lesson->script);
    return NULL;
  }
  g_mkdir_with_parents(td_path_cache(), 0700);
  return run(lesson, command, cancellable, error) ? g_steal_pointer(&tape) : NULL;
}
