/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/level_badge.h"

#include "ui/model/facts/facts.h"

#include <glib/gi18n.h>

#define POPOVER_WIDTH 420
#define POPOVER_HEIGHT 460

struct _TdLevelBadge {
  AdwBin parent_instance;
  GtkMenuButton *button;
  TdPlayhead *playhead; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdLevelBadge, td_level_badge, ADW_TYPE_BIN)

static void
add_text(GtkBox *box, const char *text, const char *css_class) {
  GtkWidget *label = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_selectable(GTK_LABEL(label), TRUE);
  if (css_class) gtk_widget_add_css_class(label, css_class);
  gtk_box_append(box, label);
}

/* The kinds known in one way, each with what it would tell. */
static void
add_kinds(GtkBox *box, TdDocument *document, td_knowledge how, const char *heading) {
  g_autofree char *lines = td_facts_dup_kinds(document, how);
  if (!*lines) return;
  add_text(box, heading, "heading");
  add_text(box, lines, NULL);
}

static GtkWidget *
make_popover(TdDocument *document, const char *title) {
  const td_catalog *catalog = td_document_get_catalog(document);
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 9);
  GtkWidget *scroller = gtk_scrolled_window_new(), *popover = gtk_popover_new();
  add_text(GTK_BOX(box), title, "heading");
  add_text(GTK_BOX(box), catalog->probe_reason, NULL);
  add_kinds(GTK_BOX(box), document, TD_knowledge_absent, _("What cannot be seen"));
  add_kinds(GTK_BOX(box), document, TD_knowledge_reconstructed, _("Reconstructed, not seen"));
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), box);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), POPOVER_HEIGHT);
  gtk_widget_set_size_request(scroller, POPOVER_WIDTH, -1);
  gtk_popover_set_child(GTK_POPOVER(popover), scroller);
  return popover;
}

static void
document_changed(TdLevelBadge *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  uint32_t level = document ? td_document_get_catalog(document)->probe_level : 0;
  gtk_widget_set_visible(GTK_WIDGET(self), level > 0);
  gtk_menu_button_set_popover(self->button, NULL);
  if (level == 0) return;
  g_autofree char *short_text = g_strdup_printf(_("Level %u"), level);
  g_autofree char *text = td_facts_engine_text(document);
  gtk_menu_button_set_label(self->button, short_text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->button), text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self->button), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                 -1);
  gtk_menu_button_set_popover(self->button, make_popover(document, text));
}

void
td_level_badge_set_playhead(TdLevelBadge *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
}

static void
td_level_badge_dispose(GObject *object) {
  g_clear_object(&TD_LEVEL_BADGE(object)->playhead);
  G_OBJECT_CLASS(td_level_badge_parent_class)->dispose(object);
}

static void
td_level_badge_class_init(TdLevelBadgeClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_level_badge_dispose;
}

static void
td_level_badge_init(TdLevelBadge *self) {
  self->button = GTK_MENU_BUTTON(gtk_menu_button_new());
  gtk_widget_add_css_class(GTK_WIDGET(self->button), "level");
  adw_bin_set_child(ADW_BIN(self), GTK_WIDGET(self->button));
  gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}
