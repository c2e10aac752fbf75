/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/overlay_list.h"

/* The first entry is the states, which are no overlay. */
static void
chosen_cb(GtkDropDown *list, GParamSpec *pspec, gpointer data) {
  guint chosen = gtk_drop_down_get_selected(list);
  td_overlay_choice_set_kind(data, chosen ? (td_overlay_kind)(chosen - 1) : TD_N_OVERLAYS);
}

void
td_overlay_list_fill(GtkDropDown *list, TdOverlayChoice *choice) {
  g_auto(GStrv) titles = td_overlay_choice_dup_titles();
  g_autoptr(GtkStringList) names = gtk_string_list_new((const char *const *)titles);
  gtk_drop_down_set_model(list, G_LIST_MODEL(names));
  g_signal_connect_object(list, "notify::selected", G_CALLBACK(chosen_cb), choice, 0);
}

void
td_overlay_list_set(GtkDropDown *list, td_overlay_kind kind) {
  gtk_drop_down_set_selected(list, kind == TD_N_OVERLAYS ? 0 : kind + 1);
}

void
td_overlay_list_next(GtkDropDown *list) {
  gtk_drop_down_set_selected(list, (gtk_drop_down_get_selected(list) + 1) % (TD_N_OVERLAYS + 1));
}
