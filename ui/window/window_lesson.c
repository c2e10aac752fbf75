/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_lesson.h"

#include "app/common/lessons.h"
#include "ui/model/base/worker.h"
#include "ui/model/lesson/lesson_progress.h"
#include "ui/widgets/base/laser.h"
#include "ui/window/lesson_copy.h"

#include <glib/gi18n.h>

#define QUESTIONS 10

/* Of a window: the lesson that begins once its tape is open. */
#define WANTED "wanted-lesson"

static const char *
language(void) {
  return g_get_language_names()[0];
}

static void
say(TdWindow *window, const GError *error) {
  td_window_say(window, error->message);
}

static void
show(TdWindow *window, TdLessonWalk *walk) {
  td_tape_view_set_walk(td_window_get_tape_view(window), walk);
}

/* ---- a lesson ---- */

/* With the learner's own script, if there is one. */
static td_lesson *
find(const char *name, const char *language, gboolean *is_own, GError **error) {
  td_lesson *lesson = td_lessons_find(name, language, error);
  char *own = td_lesson_copy_find(name);
  *is_own = own != NULL;
  if (own && lesson) {
    g_free(lesson->script);
    lesson->script = g_steal_pointer(&own);
  }
  g_free(own);
  return lesson;
}

static void
begin(TdWindow *window, const char *name) {
  g_autoptr(GError) error = NULL;
  gboolean is_own;
  td_lesson *lesson = find(name, language(), &is_own, &error);
  g_autoptr(TdLessonWalk) walk =
      lesson ? td_lesson_walk_new(td_window_get_playhead(window), lesson, is_own, &error) : NULL;
  if (walk)
    show(window, walk);
  else
    say(window, error);
}

/* Whoever opens another tape meanwhile gets no lesson. */
static void
opened(TdWindow *window) {
  TdDocument *document = td_playhead_get_document(td_window_get_playhead(window));
  g_autofree char *name = g_object_steal_data(G_OBJECT(window), WANTED);
  if (!document || !name) return;
  g_autofree char *file = g_strdup_printf("lesson-%s.tape", name);
  if (g_str_has_suffix(td_document_get_path(document), file)) begin(window, name);
}

static void
recorded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdWindow) window = data;
  g_autoptr(GError) error = NULL;
  const char *name = g_task_get_task_data(G_TASK(result));
  g_autofree char *tape = g_task_propagate_pointer(G_TASK(result), &error);
  if (!td_window_end(window, g_task_get_cancellable(G_TASK(result)))) return;
  if (!tape) {
    td_window_show_failure(window, _("Cannot Begin the Lesson"), error->message,
                           _("Run it in a terminal to see its messages: tapedeck lesson check"));
    return;
  }
  g_object_set_data_full(G_OBJECT(window), WANTED, g_strdup(name), g_free);
  td_window_open(window, tape);
}

static void
record(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  GError *error = NULL;
  gboolean is_own;
  g_autoptr(td_lesson) lesson = find(data, NULL, &is_own, &error);
  char *tape = lesson ? td_lessons_record(lesson, NULL, cancellable, &error) : NULL;
  if (tape)
    g_task_return_pointer(task, tape, g_free);
  else
    g_task_return_error(task, error);
}

void
td_window_take_lesson(TdWindow *window, const char *name) {
  g_autofree char *title = g_markup_printf_escaped(_("Recording “%s”"), name);
  GCancellable *cancellable =
      td_window_begin(window, title, _("The script runs in a process of its own."));
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, recorded, g_object_ref(window));
  g_task_set_task_data(task, g_strdup(name), g_free);
  td_worker_start(task, record);
}

static void
activated(GSimpleAction *action, GVariant *parameter, gpointer window) {
  td_window_take_lesson(window, g_variant_get_string(parameter, NULL));
}

/* ---- the script ---- */

/* Of the lesson that the person takes, or NULL. */
static const char *
name_of(TdWindow *window) {
  TdLessonPane *pane = td_tape_view_get_lesson(td_window_get_tape_view(window));
  TdLessonWalk *walk = td_lesson_pane_get_walk(pane);
  return walk ? td_lesson_walk_get_name(walk) : NULL;
}

void
td_window_edit_lesson(TdWindow *window) {
  g_autoptr(GError) error = NULL;
  const char *name = name_of(window);
  if (!name) return;
  g_autofree char *script = td_lesson_copy_make(name, &error);
  g_autofree char *uri = script ? g_filename_to_uri(script, NULL, &error) : NULL;
  if (!uri || !g_app_info_launch_default_for_uri(uri, NULL, &error)) {
    say(window, error);
    return;
  }
  td_window_say(window, _("Save the script, then run it again"));
}

void
td_window_repeat_lesson(TdWindow *window) {
  g_autofree char *name = g_strdup(name_of(window));
  if (name) td_window_take_lesson(window, name);
}

void
td_window_restore_lesson(TdWindow *window) {
  if (!name_of(window)) return;
  td_lesson_copy_remove(name_of(window));
  td_window_repeat_lesson(window);
}

/* ---- a quiz ---- */

void
td_window_take_quiz(TdWindow *window) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TdLessonWalk) walk =
      td_lesson_walk_new_quiz(td_window_get_playhead(window), g_random_int(), QUESTIONS, &error);
  if (walk)
    show(window, walk);
  else
    say(window, error);
}

void
td_window_go_on(TdWindow *window) {
  td_lesson_pane_go_on(td_tape_view_get_lesson(td_window_get_tape_view(window)));
}

void
td_window_toggle_lecture(TdWindow *window) {
  GtkWidget *pane = GTK_WIDGET(td_tape_view_get_lesson(td_window_get_tape_view(window)));
  gboolean is_lecture = !gtk_widget_has_css_class(pane, "lecture");
  td_lesson_pane_set_large(TD_LESSON_PANE(pane), is_lecture);
  td_laser_set(GTK_WINDOW(window), is_lecture);
}

static void
list_lessons(TdWindow *window) {
  g_autoptr(GPtrArray) lessons = td_lessons_load(language(), NULL);
  for (guint i = 0; lessons && i < lessons->len; i++) {
    const td_lesson *lesson = lessons->pdata[i];
    gboolean is_finished = td_lesson_progress_read(lesson->name).is_finished;
    g_autofree char *title =
        g_strdup_printf("%d. %s%s", lesson->number, lesson->title, is_finished ? " ✓" : "");
    td_start_page_add_lesson(td_window_get_start_page(window), lesson->name, title, lesson->about);
  }
}

static void
leave(TdWindow *window) {
  show(window, NULL);
}

void
td_window_lessons_install(TdWindow *window) {
  const GActionEntry entries[] = {{"lesson", activated, "s"}};
  g_action_map_add_action_entries(G_ACTION_MAP(window), entries, G_N_ELEMENTS(entries), window);
  g_signal_connect_object(td_tape_view_get_lesson(td_window_get_tape_view(window)), "leave",
                          G_CALLBACK(leave), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(td_window_get_playhead(window), "notify::document", G_CALLBACK(opened),
                          window, G_CONNECT_SWAPPED);
  list_lessons(window);
}
