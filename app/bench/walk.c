/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/walk.h"

#include "ui/model/base/worker.h"
#include "ui/model/playhead/playhead_steps.h"
#include "ui/window/display.h"
#include "ui/window/picture_shot.h"
#include "ui/window/window.h"
#include "ui/window/window_actions.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define WIDTH 1600
#define HEIGHT 1000
#define TICK_MS 20
#define QUIET_TICKS 30 /* so long nothing is in progress: lists are filled by then */
#define MOST_PLAYED_MS 8000
#define PATIENCE_MS 60000

typedef struct Walk {
  const char *path; /* (borrowed) */
  void (*walked)(const td_walked *walked);
  AdwApplication *application; /* (borrowed) */
  TdWindow *window;            /* (borrowed) */
  guint step, quiet, n_frames;
  gint64 begin_us, last_us; /* of the action; when something was last in progress */
} Walk;

static void
act(Walk *self, const char *action) {
  g_action_group_activate_action(G_ACTION_GROUP(self->window), action, NULL);
}

/* ---- what an action of its own does not do ---- */

static gboolean
frame_cb(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  ((Walk *)data)->n_frames++;
  return G_SOURCE_CONTINUE;
}

static void
show_window(Walk *self) {
  self->window = td_window_new(self->application);
  td_window_actions_install(self->window);
  gtk_window_set_default_size(GTK_WINDOW(self->window), WIDTH, HEIGHT);
  gtk_widget_add_tick_callback(GTK_WIDGET(self->window), frame_cb, self, NULL);
  gtk_window_present(GTK_WINDOW(self->window));
}

static void
open_tape(Walk *self) {
  td_window_open(self->window, self->path);
}

static void
go_to_middle(Walk *self) {
  TdPlayhead *playhead = td_window_get_playhead(self->window);
  td_playhead_set_position(playhead, td_playhead_get_length(playhead) / 2);
  td_playhead_select_current(playhead);
}

static void
step_nodes(Walk *self) {
  for (int i = 0; i < 2; i++)
    act(self, "node-step");
}

static void
type(Walk *self, const char *text) {
  GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(self->window));
  if (focus && GTK_IS_EDITABLE(focus)) gtk_editable_set_text(GTK_EDITABLE(focus), text);
}

static void
type_name(Walk *self) {
  type(self, "add");
}

static void
type_words(Walk *self) {
  type(self, "gradient");
}

static void
leave_popover(Walk *self) {
  GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(self->window));
  GtkWidget *popover = focus ? gtk_widget_get_ancestor(focus, GTK_TYPE_POPOVER) : NULL;
  if (popover) gtk_popover_popdown(GTK_POPOVER(popover));
}

static void
play(Walk *self) {
  td_playhead_to_start(td_window_get_playhead(self->window));
  act(self, "play");
}

static GtkWidget *
find_of_type(GtkWidget *widget, const char *type) {
  if (g_str_equal(G_OBJECT_TYPE_NAME(widget), type)) return widget;
  GtkWidget *found = NULL;
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child && !found;
       child = gtk_widget_get_next_sibling(child))
    found = find_of_type(child, type);
  return found;
}

static void
copy_picture(Walk *self) {
  GtkWidget *graph = find_of_type(GTK_WIDGET(self->window), "TdGraphCanvas");
  if (graph) gtk_widget_activate_action(graph, "picture.copy", NULL);
}

static void
written(GObject *source, GAsyncResult *result, gpointer path) {
  td_shot_write_finish(result, NULL);
  g_unlink(path);
  g_free(path);
}

/* Without the dialog, which would wait for an answer. */
static void
save_picture(Walk *self) {
  GtkWidget *graph = find_of_type(GTK_WIDGET(self->window), "TdGraphCanvas");
  char *path = g_strdup_printf("%s/tapedeck-walk-%d.svg", g_get_tmp_dir(), (int)getpid());
  TdShot *shot = td_shot_new(TD_CANVAS(graph));
  td_shot_write_async(shot, path, NULL, written, path);
  td_shot_unref(shot);
}

/* An entry has the name of an action, or a function. */
static const struct {
  const char *what, *action;
  void (*function)(Walk *self);
} steps[] = {
    {"the start page", NULL, show_window},
    {"open", NULL, open_tape},
    {"show the whole graph", "zoom-fit", NULL},
    {"zoom in", "zoom-in", NULL},
    {"go to the end", "to-end", NULL},
    {"go to the start", "to-start", NULL},
    {"go to the middle", NULL, go_to_middle},
    {"step an event", "event-step", NULL},
    {"step two nodes", NULL, step_nodes},
    {"step a node back", "node-back", NULL},
    {"fold all", "fold-all", NULL},
    {"open a block", "open-block", NULL},
    {"fold its module", "fold-module", NULL},
    {"open all", "open-all", NULL},
    {"colour by another figure", "next-overlay", NULL},
    {"find a node: open", "find", NULL},
    {"find a node: type", NULL, type_name},
    {"find a node: leave", NULL, leave_popover},
    {"find anything: open", "palette", NULL},
    {"find anything: type", NULL, type_name},
    {"find anything: leave", NULL, leave_popover},
    {"neighbours of a node", "node-neighbours", NULL},
    {"back to the whole graph", "whole-graph", NULL},
    {"where did this come from", "chain", NULL},
    {"one step further back", "chain", NULL},
    {"leave the way", "unselect", NULL},
    {"events", "events", NULL},
    {"find an event: open", "find-event", NULL},
    {"find an event: type", NULL, type_words},
    {"findings", "findings", NULL},
    {"profile", "profile", NULL},
    {"waiting", "waiting", NULL},
    {"contention", "contention", NULL},
    {"critical path", "critical", NULL},
    {"what if", "whatif", NULL},
    {"memory", "memory", NULL},
    {"answers", "answers", NULL},
    {"inspector", "inspector", NULL},
    {"copy the picture", NULL, copy_picture},
    {"save the picture", NULL, save_picture},
    {"play", NULL, play},
};

/* ---- one after the other ---- */

static bool
is_busy(Walk *self) {
  TdPlayhead *playhead = td_window_get_playhead(self->window);
  bool played_enough = g_get_monotonic_time() - self->begin_us > MOST_PLAYED_MS * 1000;
  if (td_playhead_get_playing(playhead) && played_enough) td_playhead_set_playing(playhead, FALSE);
  bool waits = !td_playhead_get_document(playhead) && !td_window_is_at_start(self->window);
  return waits || td_playhead_get_playing(playhead) || !td_window_is_settled(self->window) ||
         td_worker_is_busy();
}

static void
end_step(Walk *self) {
  const td_walked walked = {.what = steps[self->step].what,
                            .took_ms = (double)(self->last_us - self->begin_us) / 1e3,
                            .whole_ms = (double)(g_get_monotonic_time() - self->begin_us) / 1e3,
                            .iterations = td_iterations_take(),
                            .n_frames = self->n_frames};
  self->walked(&walked);
  self->step++;
}

static void
begin_step(Walk *self) {
  self->quiet = self->n_frames = 0;
  self->begin_us = self->last_us = g_get_monotonic_time();
  td_iterations_take();
  if (steps[self->step].function)
    steps[self->step].function(self);
  else
    act(self, steps[self->step].action);
}

static gboolean
tick_cb(gpointer data) {
  Walk *self = data;
  gint64 now = g_get_monotonic_time();
  if (is_busy(self)) self->last_us = now, self->quiet = 0;
  bool is_late = now - self->begin_us > PATIENCE_MS * 1000;
  if (self->quiet++ < QUIET_TICKS && !is_late) return G_SOURCE_CONTINUE;
  if (!is_late) end_step(self);
  if (!is_late && self->step < G_N_ELEMENTS(steps)) {
    begin_step(self);
    return G_SOURCE_CONTINUE;
  }
  gtk_window_destroy(GTK_WINDOW(self->window));
  return G_SOURCE_REMOVE;
}

static void
activated(AdwApplication *application, gpointer data) {
  Walk *self = data;
  self->application = application;
  td_iterations_watch();
  begin_step(self);
  g_timeout_add(TICK_MS, tick_cb, self);
}

char *
td_walk_window(const char *path, void (*walked)(const td_walked *walked)) {
  if (!td_display_open()) return g_strdup("no display");
  Walk self = {.path = path, .walked = walked};
  g_autoptr(AdwApplication) application =
      adw_application_new("org.tapedeck.Bench", G_APPLICATION_NON_UNIQUE);
  g_application_set_resource_base_path(G_APPLICATION(application), "/org/tapedeck/Tapedeck");
  g_signal_connect(application, "activate", G_CALLBACK(activated), &self);
  g_application_run(G_APPLICATION(application), 0, NULL);
  return self.step == G_N_ELEMENTS(steps)
             ? NULL
             : g_strdup_printf("no end of “%s”", steps[self.step].what);
}
