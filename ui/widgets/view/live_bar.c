/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/live_bar.h"

#include "ui/widgets/base/live_lists.h"
#include "ui/widgets/panes/stops_pane.h"

#include <glib/gi18n.h>

/* From one stop to the next a step takes a moment, in which nothing should flicker. */
#define PATIENCE_MS 250

struct _TdLiveBar {
  GtkBox parent_instance;
  GtkImage *icon;
  GtkLabel *badge, *status, *detail;
  GtkWidget *step, *go, *pause, *detach, *stops_button, *threads_button;
  TdStopsPane *stops;
  TdThreadList *threads;
  TdPlayhead *playhead;   /* (owned) */
  TdLiveSession *session; /* (owned) or NULL */
  guint patience;         /* source, or 0 */
};

G_DEFINE_FINAL_TYPE(TdLiveBar, td_live_bar, GTK_TYPE_BOX)

static char *
dup_place(const TdLiveStop *stop) {
  if (g_str_equal(stop->kind, "queue_pop")) return g_strdup(_("a choice of ready tasks"));
  if (stop->name && stop->node != TD_NONE)
    return g_strdup_printf(_("%s of %s #%u"), stop->kind, stop->name, stop->node);
  return stop->node == TD_NONE ? g_strdup(stop->kind)
                               : g_strdup_printf(_("%s of node %u"), stop->kind, stop->node);
}

static char *
dup_stopped_text(const TdLiveStop *stop) {
  g_autofree char *place = dup_place(stop);
  return stop->condition ? g_strdup_printf(_("Stopped on %s, at %s"), stop->condition, place)
                         : g_strdup_printf(_("Paused at %s"), place);
}

static char *
dup_status(TdLiveBar *self) {
  switch (td_live_session_get_state(self->session)) {
  case TD_LIVE_STOPPED:
    return dup_stopped_text(td_live_session_get_stop(self->session));
  case TD_LIVE_DETACHED:
    return g_strdup(_("Let go: the program runs on while Tapedeck records it"));
  case TD_LIVE_WATCHED:
    return g_strdup(_("The program cannot be stopped: it was recorded without --live"));
  case TD_LIVE_ENDED:
    return g_strdup(td_live_session_is_lost(self->session)
                        ? _("The connection to the program is over: this is its tape so far")
                        : _("The program has ended: this is its whole tape"));
  default:
    return g_strdup(_("The program is running"));
  }
}

static char *
dup_threads(TdLiveBar *self, const TdLiveStop *stop) {
  g_autofree char *thread = td_live_dup_thread_name(self->playhead, stop->thread);
  guint others = td_live_session_get_n_stopped(self->session) - 1;
  if (others == 0) return g_strdup_printf(_("thread %s"), thread);
  return g_strdup_printf(
      ngettext("thread %s, %u other stopped", "thread %s, %u others stopped", others), thread,
      others);
}

static char *
dup_detail(TdLiveBar *self) {
  const TdLiveStop *stop = td_live_session_get_stop(self->session);
  uint32_t chosen = td_live_session_get_chosen(self->session);
  if (!stop) return NULL;
  g_autofree char *threads = dup_threads(self, stop);
  if (chosen == TD_NONE) return g_steal_pointer(&threads);
  return g_strdup_printf(_("%s, you chose #%u to run next"), threads, chosen);
}

static const char *
icon_name(TdLiveState state) {
  static const char *const names[] = {[TD_LIVE_RUNNING] = "media-playback-start-symbolic",
                                      [TD_LIVE_STOPPED] = "media-playback-pause-symbolic",
                                      [TD_LIVE_DETACHED] = "media-playback-start-symbolic",
                                      [TD_LIVE_WATCHED] = "media-playback-start-symbolic",
                                      [TD_LIVE_ENDED] = "media-playback-stop-symbolic"};
  return names[state];
}

static void
set_class(TdLiveBar *self, const char *name, gboolean wanted) {
  if (wanted)
    gtk_widget_add_css_class(GTK_WIDGET(self), name);
  else
    gtk_widget_remove_css_class(GTK_WIDGET(self), name);
}

static void
show_state(TdLiveBar *self) {
  TdLiveState state = td_live_session_get_state(self->session);
  g_autofree char *status = dup_status(self), *detail = dup_detail(self);
  gboolean stopped = state == TD_LIVE_STOPPED, ended = state == TD_LIVE_ENDED;
  gboolean hears = !ended && state != TD_LIVE_WATCHED;
  gboolean lost = td_live_session_is_lost(self->session);
  gtk_label_set_text(self->badge, lost ? _("CUT OFF") : ended ? _("ENDED") : _("LIVE"));
  gtk_image_set_from_icon_name(self->icon, icon_name(state));
  gtk_label_set_text(self->status, status);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->status), status);
  gtk_label_set_text(self->detail, detail ? detail : "");
  gtk_widget_set_visible(self->go, stopped);
  gtk_widget_set_visible(self->pause, !stopped && hears);
  gtk_widget_set_visible(self->step, hears);
  gtk_widget_set_visible(self->detach, hears && state != TD_LIVE_DETACHED);
  gtk_widget_set_visible(self->stops_button, hears);
  gtk_widget_set_visible(self->threads_button, hears);
  set_class(self, "stopped", stopped);
  set_class(self, "ended", ended);
}

static void
forget_patience(TdLiveBar *self) {
  if (self->patience) g_source_remove(self->patience);
  self->patience = 0;
}

static gboolean
patience_over(gpointer data) {
  TD_LIVE_BAR(data)->patience = 0;
  show_state(data);
  return G_SOURCE_REMOVE;
}

static void
session_changed(TdLiveBar *self) {
  if (td_live_session_get_state(self->session) != TD_LIVE_RUNNING) {
    forget_patience(self);
    show_state(self);
  } else if (!self->patience) {
    self->patience = g_timeout_add(PATIENCE_MS, patience_over, self);
  }
}

/* Names of threads are on the tape. */
static void
document_changed(TdLiveBar *self) {
  if (self->session && !self->patience) show_state(self);
}

void
td_live_bar_set_playhead(TdLiveBar *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  td_thread_list_set_playhead(self->threads, playhead);
}

void
td_live_bar_set_stops(TdLiveBar *self, TdStopList *stops) {
  td_stops_pane_set_stops(self->stops, self->playhead, stops);
}

void
td_live_bar_set_session(TdLiveBar *self, TdLiveSession *session) {
  if (self->session == session) return;
  forget_patience(self);
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_set_object(&self->session, session);
  td_thread_list_set_session(self->threads, session);
  gtk_widget_set_visible(GTK_WIDGET(self), session != NULL);
  if (!session) return;
  g_signal_connect_swapped(session, "changed", G_CALLBACK(session_changed), self);
  show_state(self);
}

static void
td_live_bar_dispose(GObject *object) {
  TdLiveBar *self = TD_LIVE_BAR(object);
  forget_patience(self);
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_clear_object(&self->session);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_live_bar_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdLiveBar, child)

static void
td_live_bar_class_init(TdLiveBarClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_live_bar_dispose;
  g_type_ensure(TD_TYPE_STOPS_PANE);
  g_type_ensure(TD_TYPE_THREAD_LIST);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/live_bar.ui");
  BIND(badge);
  BIND(icon);
  BIND(status);
  BIND(detail);
  BIND(step);
  BIND(go);
  BIND(pause);
  BIND(detach);
  BIND(stops_button);
  BIND(threads_button);
  BIND(stops);
  BIND(threads);
}

static void
td_live_bar_init(TdLiveBar *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}
