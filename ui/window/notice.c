/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/notice.h"

#include <glib/gi18n.h>

#define SECONDS_SHOWN 3

static void
hide(TdNotice *notice) {
  g_clear_handle_id(&notice->timeout, g_source_remove);
  gtk_revealer_set_reveal_child(notice->revealer, FALSE);
}

static gboolean
hide_cb(gpointer data) {
  TdNotice *notice = data;
  notice->timeout = 0;
  hide(notice);
  return G_SOURCE_REMOVE;
}

/* A screen reader does not find what is no longer said. */
static void
revealed(TdNotice *notice) {
  if (!gtk_revealer_get_child_revealed(notice->revealer)) gtk_label_set_text(notice->label, "");
}

static GtkWidget *
close_button(TdNotice *notice) {
  GtkWidget *button = gtk_button_new_from_icon_name("window-close-symbolic");
  gtk_widget_add_css_class(button, "flat");
  gtk_widget_add_css_class(button, "circular");
  gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Dismiss"), -1);
  g_signal_connect_swapped(button, "clicked", G_CALLBACK(hide), notice);
  return button;
}

void
td_notice_init(TdNotice *notice, GtkOverlay *overlay) {
  GtkWidget *box = g_object_new(GTK_TYPE_BOX, "css-name", "toast", NULL); /* looks like one */
  GtkWidget *label = gtk_label_new("");
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class(label, "heading");
  gtk_box_append(GTK_BOX(box), label);
  gtk_box_append(GTK_BOX(box), close_button(notice));
  GtkWidget *revealer = gtk_revealer_new();
  gtk_revealer_set_transition_type(GTK_REVEALER(revealer), GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP);
  gtk_revealer_set_child(GTK_REVEALER(revealer), box);
  gtk_widget_set_halign(revealer, GTK_ALIGN_CENTER);
  gtk_widget_set_valign(revealer, GTK_ALIGN_END);
  gtk_overlay_add_overlay(overlay, revealer);
  *notice = (TdNotice){.revealer = GTK_REVEALER(revealer), .label = GTK_LABEL(label)};
  g_signal_connect_swapped(revealer, "notify::child-revealed", G_CALLBACK(revealed), notice);
}

void
td_notice_clear(TdNotice *notice) {
  g_clear_handle_id(&notice->timeout, g_source_remove);
  if (notice->revealer) g_signal_handlers_disconnect_by_data(notice->revealer, notice);
  notice->revealer = NULL;
}

void
td_notice_say(TdNotice *notice, const char *text) {
  if (!notice->revealer) return; /* the window goes */
  gtk_label_set_text(notice->label, text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(notice->label), text);
  gtk_revealer_set_reveal_child(notice->revealer, TRUE);
  g_clear_handle_id(&notice->timeout, g_source_remove);
  notice->timeout = g_timeout_add_seconds(SECONDS_SHOWN, hide_cb, notice);
}
