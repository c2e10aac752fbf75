/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/example_runner.h"

#include "app/common/paths.h"

#include <glib/gi18n.h>

/* The last line that the child wrote to standard error: the reason of its failure, in its words. */
static char *
last_line(const char *text) {
  g_autofree char *trimmed = g_strstrip(g_strdup(text ? text : ""));
  const char *end = strrchr(trimmed, '\n');
  return g_strdup(end ? end + 1 : trimmed);
}

static void
communicated(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(GTask) task = data;
  GSubprocess *child = G_SUBPROCESS(source);
  g_autofree char *out = NULL, *err = NULL;
  GError *error = NULL;
  if (!g_subprocess_communicate_utf8_finish(child, result, &out, &err, &error)) {
    g_subprocess_force_exit(child);
    g_task_return_error(task, error);
    return;
  }
  if (g_subprocess_get_successful(child)) {
    g_task_return_pointer(task, g_steal_pointer(&out), g_free);
    return;
  }
  g_autofree char *reason = last_line(err);
  g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s",
                          *reason ? reason : _("The program ended and printed no reason."));
}

static void
run(GTask *task, const char *const *arguments) {
  GError *error = NULL;
  g_autoptr(GSubprocess) child = g_subprocess_newv(
      arguments, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  if (!child) {
    g_task_return_error(task, error);
    g_object_unref(task);
    return;
  }
  g_subprocess_communicate_utf8_async(child, NULL, g_task_get_cancellable(task), communicated,
                                      task);
}

void
td_example_record_async(const char *name, GCancellable *cancellable, GAsyncReadyCallback done,
                        gpointer data) {
  const char *folder = td_path_cache();
  g_autofree char *file = g_strconcat(name, ".tape", NULL);
  char *path = g_build_filename(folder, file, NULL);
  GTask *task = g_task_new(NULL, cancellable, done, data);
  g_mkdir_with_parents(folder, 0700);
  g_task_set_task_data(task, path, g_free);
  run(task, (const char *const[]){td_path_program(), "run", "--force", "--anomaly", "nonfinite",
                                  "-o", path, name, NULL});
}

char *
td_example_record_finish(GAsyncResult *result, GError **error) {
  g_autofree char *output = g_task_propagate_pointer(G_TASK(result), error);
  return output ? g_strdup(g_task_get_task_data(G_TASK(result))) : NULL;
}
