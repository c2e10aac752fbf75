/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/stop_run.h"

#include "ui/model/live/stop_work.h"
#include "ui/model/playhead/playhead_steps.h"

#include <glib/gi18n.h>

/* A search that takes longer says so. */
#define PATIENCE_MS 700

struct _TdStopRun {
  GObject parent_instance;
  TdPlayhead *playhead;  /* (owned) */
  TdStopList *stops;     /* (owned) */
  GCancellable *running; /* (owned) or NULL: nobody looks for a stop */
  GStrv conditions;      /* (owned) that are looked for */
  uint64_t from;         /* position */
  int direction;
  gboolean goes_past_end;
  guint patience; /* source, or 0 */
};

G_DEFINE_FINAL_TYPE(TdStopRun, td_stop_run, G_TYPE_OBJECT)

static guint past_end_signal;

static void
forget_patience(TdStopRun *self) {
  if (self->patience) g_source_remove(self->patience);
  self->patience = 0;
}

static gboolean
patience_over(gpointer data) {
  TdStopRun *self = data;
  self->patience = 0;
  td_playhead_say(self->playhead, _("Looking for a stop; any step ends the search"));
  return G_SOURCE_REMOVE;
}

static void
end_run(TdStopRun *self) {
  forget_patience(self);
  if (self->running) g_cancellable_cancel(self->running);
  g_clear_object(&self->running);
}

/* Whoever moves the playhead meanwhile wants to be there. */
static void
playhead_moved(TdStopRun *self) {
  if (self->running && td_playhead_get_target(self->playhead) != self->from) end_run(self);
}

static void
say_none(TdStopRun *self) {
  const char *text =
      self->direction > 0 ? _("No further stop on this tape") : _("No stop before this event");
  if (!self->conditions[0]) text = _("No stop is set: the key B sets one at the selected node");
  td_playhead_say(self->playhead, text);
}

static void
find_none(TdStopRun *self) {
  if (self->goes_past_end)
    g_signal_emit(self, past_end_signal, 0);
  else
    say_none(self);
}

static void
show_hit(TdStopRun *self, const td_stop_hit *hit) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; self->conditions[i] && i < TD_STOPS_MAX; i++)
    if (hit->conditions >> i & 1)
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", self->conditions[i]);
  g_autofree char *text = g_strdup_printf(_("Stopped on %s"), names->str);
  td_playhead_show_problem(self->playhead, hit->seq);
  td_playhead_say(self->playhead, text);
}

static void
ran(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdStopRun) self = data;
  g_autoptr(GError) error = NULL;
  td_stop_hit hit;
  gboolean found = td_stop_work_find_finish(result, &hit, &error);
  if (!self->running || g_task_get_cancellable(G_TASK(result)) != self->running) return;
  g_clear_object(&self->running);
  forget_patience(self);
  if (found)
    show_hit(self, &hit);
  else if (error)
    td_playhead_say(self->playhead, error->message);
  else
    find_none(self);
}

void
td_stop_run_start(TdStopRun *self, int direction, gboolean goes_past_end) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document) return;
  end_run(self);
  g_strfreev(self->conditions);
  self->conditions = td_stop_list_dup_texts(self->stops, FALSE);
  self->from = td_playhead_get_target(self->playhead);
  self->direction = direction;
  self->goes_past_end = goes_past_end;
  if (!self->conditions[0]) {
    find_none(self);
    return;
  }
  uint64_t event = direction > 0 ? self->from : MAX(self->from, 1) - 1; /* not the one reached */
  self->running = g_cancellable_new();
  self->patience = g_timeout_add(PATIENCE_MS, patience_over, self);
  td_stop_work_find_async(td_document_get_path(document), (const char *const *)self->conditions,
                          event, direction > 0, self->running, ran, g_object_ref(self));
}

gboolean
td_stop_run_is_busy(TdStopRun *self) {
  return self->running != NULL;
}

static void
td_stop_run_dispose(GObject *object) {
  TdStopRun *self = TD_STOP_RUN(object);
  end_run(self);
  g_clear_pointer(&self->conditions, g_strfreev);
  g_clear_object(&self->stops);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_stop_run_parent_class)->dispose(object);
}

static void
td_stop_run_class_init(TdStopRunClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_stop_run_dispose;
  past_end_signal = g_signal_new("past-end", TD_TYPE_STOP_RUN, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
td_stop_run_init(TdStopRun *self) {
}

TdStopRun *
td_stop_run_new(TdPlayhead *playhead, TdStopList *stops) {
  TdStopRun *self = g_object_new(TD_TYPE_STOP_RUN, NULL);
  self->playhead = g_object_ref(playhead);
  self->stops = g_object_ref(stops);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(playhead_moved), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::travelling", G_CALLBACK(playhead_moved), self,
                          G_CONNECT_SWAPPED);
  return self;
}
