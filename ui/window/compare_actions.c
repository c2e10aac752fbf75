/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/compare_actions.h"

#include "ui/model/playhead/playhead_steps.h"
#include "ui/window/window_help.h"
#include "ui/window/window_keys.h"
#include "ui/window/window_picture.h"
#include "ui/window/window_shortcuts.h"

#include <glib/gi18n.h>

#define ZOOM_STEP 1.25

static TdPlayhead *
get_lead(TdCompareWindow *self) {
  TdSideBySide *sides = td_compare_window_get_sides(self);
  return td_side_by_side_get_playhead(sides, td_side_by_side_get_lead(sides));
}

static void
play(TdCompareWindow *self) {
  td_side_by_side_play(td_compare_window_get_sides(self));
}

/* Stepping by hand stops playing. */
static TdPlayhead *
stopped(TdCompareWindow *self) {
  td_playhead_set_playing(get_lead(self), FALSE);
  return get_lead(self);
}

#define TD_STEP(function, name, title, keys, is_live, step)                                        \
  static void function(TdCompareWindow *self) {                                                    \
    TdPlayhead *playhead = stopped(self);                                                          \
    step;                                                                                          \
  }
#include "ui/window/steps.def"
#undef TD_STEP

static void
first_difference(TdCompareWindow *self) {
  if (td_side_by_side_get_aligned(td_compare_window_get_sides(self))->has_difference)
    td_compare_view_show_difference(td_compare_window_get_view(self));
  else
    td_compare_window_say(self, _("The order does not differ"));
}

static void
lead_other(TdCompareWindow *self) {
  td_compare_view_lead_other(td_compare_window_get_view(self));
}

static void
zoom_in(TdCompareWindow *self) {
  td_compare_view_zoom(td_compare_window_get_view(self), ZOOM_STEP);
}

static void
zoom_out(TdCompareWindow *self) {
  td_compare_view_zoom(td_compare_window_get_view(self), 1 / ZOOM_STEP);
}

static void
zoom_fit(TdCompareWindow *self) {
  td_compare_view_fit(td_compare_window_get_view(self));
}

static void
unselect(TdCompareWindow *self) {
  if (td_window_cancel_picture(GTK_WINDOW(self))) return;
  td_compare_view_show_whole(td_compare_window_get_view(self));
}

static void
save_picture(TdCompareWindow *self) {
  td_window_save_picture(GTK_WINDOW(self));
}

static void
close_window(TdCompareWindow *self) {
  gtk_window_close(GTK_WINDOW(self));
}

static void
help(TdCompareWindow *self) {
  td_help_show(GTK_WINDOW(self));
}

static void show_shortcuts(TdCompareWindow *self);

static const struct {
  const char *name, *title;
  const char *keys; /* accelerators, separated by spaces */
  gboolean moves;   /* needs both tapes, and its keys work wherever the focus is */
  void (*activate)(TdCompareWindow *self);
} actions[] = {
    {"play", N_("Play or pause"), "space", TRUE, play},
#define TD_STEP(function, name, title, keys, is_live, step) {name, title, keys, TRUE, function},
#include "ui/window/steps.def"
#undef TD_STEP
    {"first-difference", N_("Go to where the order first differs"), "d", TRUE, first_difference},
    {"lead-other", N_("Move the other side instead"), "s", TRUE, lead_other},
    {"zoom-in", N_("Zoom in"), "plus equal KP_Add <Control>plus", TRUE, zoom_in},
    {"zoom-out", N_("Zoom out"), "minus KP_Subtract <Control>minus", TRUE, zoom_out},
    {"zoom-fit", N_("Show the whole graph"), "f 0 <Control>0", TRUE, zoom_fit},
    {"unselect", N_("Back to the whole graph; then select nothing"), "Escape", TRUE, unselect},
    {"save-picture", N_("Save the picture that has the focus, or the graph"), "<Control>s", TRUE,
     save_picture},
    {"help", N_("Help"), "F1", FALSE, help},
    {"shortcuts", N_("Keyboard shortcuts"), "<Control>question", FALSE, show_shortcuts},
    {"close", N_("Close the window"), "<Control>w <Control>q", FALSE, close_window},
};

static void
activated(GSimpleAction *action, GVariant *parameter, gpointer data) {
  const char *name = g_action_get_name(G_ACTION(action));
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
    if (strcmp(actions[i].name, name) == 0) actions[i].activate(data);
}

static void
show_shortcuts(TdCompareWindow *self) {
  TdShortcuts *shortcuts = td_shortcuts_new();
  td_shortcuts_add_section(shortcuts, N_("Two Tapes beside Each Other"));
  td_shortcuts_add_group(shortcuts, N_("Two Tapes beside Each Other"));
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
    td_shortcuts_add(shortcuts, actions[i].title, actions[i].keys);
  td_shortcuts_add_graph(shortcuts);
  td_shortcuts_show(shortcuts, GTK_WINDOW(self));
}

static void
name_buttons(GtkWidget *widget) {
  const char *detailed =
      GTK_IS_ACTIONABLE(widget) ? gtk_actionable_get_action_name(GTK_ACTIONABLE(widget)) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(actions) && detailed; i++)
    if (g_str_has_prefix(detailed, "win.") && strcmp(actions[i].name, detailed + 4) == 0)
      td_window_keys_name_button(widget, _(actions[i].title), actions[i].keys);
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
       child = gtk_widget_get_next_sibling(child))
    name_buttons(child);
}

static void
enable(TdCompareWindow *self, gboolean has_tapes) {
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++) {
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(self), actions[i].name);
    g_simple_action_set_enabled(G_SIMPLE_ACTION(action), has_tapes || !actions[i].moves);
  }
}

static void
ready(TdCompareWindow *self) {
  enable(self, TRUE);
}

void
td_compare_actions_install(TdCompareWindow *self) {
  TdWindowKeys keys = td_window_keys_new(GTK_WIDGET(self));
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++) {
    g_autoptr(GSimpleAction) action = g_simple_action_new(actions[i].name, NULL);
    g_signal_connect(action, "activate", G_CALLBACK(activated), self);
    g_action_map_add_action(G_ACTION_MAP(self), G_ACTION(action));
    td_window_keys_add(&keys, actions[i].name, actions[i].keys, actions[i].moves);
  }
  td_window_pictures_install(GTK_WINDOW(self));
  name_buttons(GTK_WIDGET(self));
  g_signal_connect(self, "ready", G_CALLBACK(ready), NULL);
  enable(self, FALSE);
}
