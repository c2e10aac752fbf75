/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_palette.h"

#include "ui/widgets/view/palette.h"
#include "ui/window/window_keys.h"

#define PALETTE "palette"

static TdPalette *
palette_of(TdWindow *window) {
  return g_object_get_data(G_OBJECT(window), PALETTE);
}

void
td_window_palette_clear(TdWindow *window) {
  td_palette_clear_actions(palette_of(window));
}

void
td_window_palette_offer(TdWindow *window, const char *name, const char *title, const char *keys) {
  g_autofree char *key = td_window_keys_dup_label(keys);
  g_autofree char *action = g_strconcat("win.", name, NULL);
  td_palette_add_action(palette_of(window), action, title, key);
}

void
td_window_palette_open(TdWindow *window) {
  td_palette_set_answers(palette_of(window),
                         td_tape_view_get_answers(td_window_get_tape_view(window)));
  td_palette_open(palette_of(window));
}

void
td_window_palette_add(TdWindow *window) {
  GtkWidget *content = adw_application_window_get_content(ADW_APPLICATION_WINDOW(window));
  TdPalette *palette = td_palette_new(content, td_window_get_playhead(window));
  g_object_set_data(G_OBJECT(window), PALETTE, palette);
  g_signal_connect_object(content, "destroy", G_CALLBACK(gtk_widget_unparent), palette,
                          G_CONNECT_SWAPPED);
}
