/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/part_bar.h"

#include "ui/model/document/document_part.h"
#include "ui/widgets/timeline/strip_canvas.h"

#include <glib/gi18n.h>

struct _TdPartBar {
  AdwBin parent_instance;
  GtkWidget *earlier, *later;
  GtkLabel *part, *events;
  GtkSpinner *spinner;
  TdStripCanvas *strip;
  TdPlayhead *playhead; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdPartBar, td_part_bar, ADW_TYPE_BIN)

static void
show_part(TdPartBar *self, TdDocument *document) {
  TdPart part = td_document_get_part(document);
  g_autofree char *text = td_document_dup_part_text(document);
  g_autofree char *events = td_document_dup_part_events(document);
  gtk_label_set_text(self->part, text);
  gtk_label_set_text(self->events, events);
  gtk_widget_set_sensitive(self->earlier, part.number > 1);
  gtk_widget_set_sensitive(self->later, part.number < part.n);
}

static void
document_changed(TdPartBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean cut = document && td_document_is_cut(document);
  gtk_widget_set_visible(GTK_WIDGET(self), cut);
  if (cut) show_part(self, document);
}

/* While the playhead travels, the bar names the part that comes. */
static void
travelling_changed(TdPartBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean travels = td_playhead_is_travelling(self->playhead);
  gtk_spinner_set_spinning(self->spinner, travels);
  td_strip_canvas_travelling_changed(self->strip);
  if (!travels || !document) return document_changed(self);
  TdPart part = td_document_part_at(document, td_playhead_get_target(self->playhead));
  g_autofree char *text = g_strdup_printf(_("Reading part %u of %u"), part.number, part.n);
  gtk_label_set_text(self->events, text);
}

/* To the first event of the part beside. */
static void
go_earlier(TdPartBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  TdPart before = td_document_part_at(document, td_document_get_part(document).first);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, before.first + 1);
}

static void
go_later(TdPartBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, td_document_get_part(document).end + 1);
}

void
td_part_bar_set_playhead(TdPartBar *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::travelling", G_CALLBACK(travelling_changed), self,
                          G_CONNECT_SWAPPED);
  td_canvas_set_playhead(TD_CANVAS(self->strip), playhead);
  document_changed(self);
}

static void
td_part_bar_dispose(GObject *object) {
  g_clear_object(&TD_PART_BAR(object)->playhead);
  G_OBJECT_CLASS(td_part_bar_parent_class)->dispose(object);
}

static void
td_part_bar_class_init(TdPartBarClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_part_bar_dispose;
  g_type_ensure(TD_TYPE_STRIP_CANVAS);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/part_bar.ui");
  gtk_widget_class_bind_template_child(widget_class, TdPartBar, earlier);
  gtk_widget_class_bind_template_child(widget_class, TdPartBar, later);
  gtk_widget_class_bind_template_child(widget_class, TdPartBar, part);
  gtk_widget_class_bind_template_child(widget_class, TdPartBar, events);
  gtk_widget_class_bind_template_child(widget_class, TdPartBar, spinner);
  gtk_widget_class_bind_template_child(widget_class, TdPartBar, strip);
}

static void
td_part_bar_init(TdPartBar *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_signal_connect_swapped(self->earlier, "clicked", G_CALLBACK(go_earlier), self);
  g_signal_connect_swapped(self->later, "clicked", G_CALLBACK(go_later), self);
}
