/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_schedulers.h"

#include "app/common/lessons.h"
#include "ui/model/base/worker.h"
#include "ui/window/window_compare.h"

#include <glib/gi18n.h>

#define LESSON "schedulers"
#define OLD "2017"

static void
record(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  GError *error = NULL;
  g_autoptr(td_lesson) lesson = td_lessons_find(LESSON, NULL, &error);
  g_auto(GStrv) tapes = g_new0(char *, 3);
  if (lesson) tapes[0] = td_lessons_record(lesson, OLD, cancellable, &error);
  if (tapes[0]) tapes[1] = td_lessons_record(lesson, NULL, cancellable, &error);
  if (tapes[1])
    g_task_return_pointer(task, g_steal_pointer(&tapes), (GDestroyNotify)g_strfreev);
  else
    g_task_return_error(task, error);
}

static void
recorded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdWindow) window = data;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) tapes = g_task_propagate_pointer(G_TASK(result), &error);
  if (!td_window_end(window, g_task_get_cancellable(G_TASK(result)))) return;
  if (!tapes) {
    td_window_show_failure(window, _("Cannot Record the Example"), error->message,
                           _("Run it in a terminal to see its messages: tapedeck lesson check"));
    return;
  }
  td_window_show_start(window);
  const TdAlignmentWish wish = {.path = {tapes[0], tapes[1]}};
  td_window_compare(window, &wish);
}

void
td_window_compare_schedulers(TdWindow *window) {
  GCancellable *cancellable = td_window_begin(window, _("Recording two schedulers"),
                                              _("The script runs in a process of its own."));
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, recorded, g_object_ref(window));
  td_worker_start(task, record);
}
