/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/drag.h"

#include "ui/window/display.h"
#include "ui/window/window.h"
#include "ui/window/window_actions.h"

#define WIDTH 1600
#define HEIGHT 1000
#define START_FRAMES 10 /* the start page is drawn by then */
#define QUIET_FRAMES 30 /* the lists are filled by then */

typedef struct Drag {
  const char *path; /* (borrowed) */
  td_drag *result;  /* (borrowed) */
  TdWindow *window; /* (borrowed) */
  int n_there, start, quiet, frame;
  gint64 begin_us, last_us;
} Drag;

static double
share_at(const Drag *self) {
  int n = self->n_there, frame = self->frame;
  return frame <= n ? (double)frame / n : 1 - (double)(frame - n) / (n / 2);
}

/* A tick comes before its frame is drawn: what is there at one tick is drawn at the next. */
static bool
is_open(Drag *self) {
  if (self->start < START_FRAMES && ++self->start == START_FRAMES) {
    self->begin_us = g_get_monotonic_time();
    td_window_open(self->window, self->path);
  }
  if (self->start < START_FRAMES) return false;
  TdPlayhead *playhead = td_window_get_playhead(self->window);
  bool still = td_playhead_get_document(playhead) && td_window_is_settled(self->window);
  if (self->quiet == 1 && self->result->open_ms == 0)
    self->result->open_ms = (double)(g_get_monotonic_time() - self->begin_us) / 1e3;
  self->quiet = still ? self->quiet + 1 : 0;
  return self->quiet > QUIET_FRAMES;
}

static void
note_frame(Drag *self) {
  gint64 now = g_get_monotonic_time();
  if (self->frame == 0) self->begin_us = now;
  if (self->frame > 0)
    self->result->worst_ms = MAX(self->result->worst_ms, (double)(now - self->last_us) / 1e3);
  self->last_us = now;
}

static gboolean
frame_cb(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  Drag *self = data;
  TdPlayhead *playhead = td_window_get_playhead(self->window);
  if (self->quiet <= QUIET_FRAMES && !is_open(self)) return G_SOURCE_CONTINUE;
  note_frame(self);
  if (self->frame == self->n_there + self->n_there / 2) {
    self->result->frame_ms = (double)(self->last_us - self->begin_us) / 1e3 / self->frame;
    gtk_window_destroy(GTK_WINDOW(self->window));
    return G_SOURCE_REMOVE;
  }
  self->frame++;
  td_playhead_set_position(playhead,
                           (uint64_t)(share_at(self) * (double)td_playhead_get_length(playhead)));
  return G_SOURCE_CONTINUE;
}

static void
activated(AdwApplication *application, gpointer data) {
  Drag *self = data;
  self->window = td_window_new(application);
  td_window_actions_install(self->window);
  gtk_window_set_default_size(GTK_WINDOW(self->window), WIDTH, HEIGHT);
  gtk_widget_add_tick_callback(GTK_WIDGET(self->window), frame_cb, self, NULL);
  gtk_window_present(GTK_WINDOW(self->window));
}

char *
td_drag_slider(const char *path, int n_frames, td_drag *drag) {
  if (!td_display_open()) return g_strdup("no display");
  Drag self = {.path = path, .result = drag, .n_there = n_frames};
  g_autoptr(AdwApplication) application =
      adw_application_new("org.tapedeck.Bench", G_APPLICATION_NON_UNIQUE);
  g_application_set_resource_base_path(G_APPLICATION(application), "/org/tapedeck/Tapedeck");
  g_signal_connect(application, "activate", G_CALLBACK(activated), &self);
  *drag = (td_drag){0};
  g_application_run(G_APPLICATION(application), 0, NULL);
  return drag->frame_ms > 0 ? NULL : g_strdup("the window closed before the end");
}
