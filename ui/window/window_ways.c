/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_ways.h"

#include "ui/model/playhead/visits.h"
#include "ui/window/window_compare.h"
#include "ui/window/window_save.h"

#include <glib/gi18n.h>

/* Side buttons of a mouse, as GTK numbers them. */
enum { BUTTON_BACK = 8, BUTTON_FORWARD = 9 };

#define VISITS "visits"

void
td_window_visit(TdWindow *window, int direction) {
  TdVisits *visits = g_object_get_data(G_OBJECT(window), VISITS);
  if (!td_visits_go(visits, direction))
    td_window_say(window, direction < 0 ? _("This is the first place you visited")
                                        : _("This is the last place you visited"));
}

void
td_window_keep_visit(TdWindow *window) {
  td_visits_keep(g_object_get_data(G_OBJECT(window), VISITS));
}

static void
side_button_pressed(GtkGestureClick *click, int n, double x, double y, gpointer window) {
  guint button = gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(click));
  if (button != BUTTON_BACK && button != BUTTON_FORWARD) return;
  if (!td_playhead_get_document(td_window_get_playhead(window))) return;
  gtk_gesture_set_state(GTK_GESTURE(click), GTK_EVENT_SEQUENCE_CLAIMED);
  td_window_visit(window, button == BUTTON_BACK ? -1 : 1);
}

static gboolean
dropped(GtkDropTarget *target, const GValue *value, double x, double y, gpointer window) {
  g_autoptr(GSList) files = gdk_file_list_get_files(g_value_get_boxed(value));
  g_autofree char *path = files ? g_file_get_path(files->data) : NULL;
  if (path) td_window_open(window, path);
  return path != NULL;
}

static void
save_activated(GSimpleAction *action, GVariant *seq, gpointer window) {
  td_window_save_pass(window, g_variant_get_uint64(seq));
}

static void
compare_activated(GSimpleAction *action, GVariant *target, gpointer window) {
  guint64 seq;
  guint32 node, passes[2];
  g_variant_get(target, "(tuuu)", &seq, &node, &passes[0], &passes[1]);
  td_window_compare_at(window, passes, seq, node);
}

void
td_window_ways_add(TdWindow *window) {
  const GActionEntry of_findings[] = {{"save-finding", save_activated, "t"},
                                      {"compare-finding", compare_activated, "(tuuu)"}};
  g_action_map_add_action_entries(G_ACTION_MAP(window), of_findings, G_N_ELEMENTS(of_findings),
                                  window);
  GtkWidget *widget = GTK_WIDGET(window);
  GtkDropTarget *drop = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
  g_signal_connect(drop, "drop", G_CALLBACK(dropped), window);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drop));
  GtkGesture *click = gtk_gesture_click_new();
  gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), 0);
  gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(click), GTK_PHASE_CAPTURE);
  g_signal_connect(click, "pressed", G_CALLBACK(side_button_pressed), window);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
  g_object_set_data_full(G_OBJECT(window), VISITS, td_visits_new(td_window_get_playhead(window)),
                         g_object_unref);
  g_signal_connect_object(td_tape_view_get_chain(td_window_get_tape_view(window)), "stepped",
                          G_CALLBACK(td_window_keep_visit), window, G_CONNECT_SWAPPED);
}
