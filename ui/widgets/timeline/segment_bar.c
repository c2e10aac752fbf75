/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/segment_bar.h"

#include "ui/model/document/document_segment.h"
#include "ui/widgets/timeline/strip_canvas.h"

#include <glib/gi18n.h>

struct _TdSegmentBar {
  AdwBin parent_instance;
  GtkWidget *earlier, *later;
  GtkLabel *segment, *events;
  GtkSpinner *spinner;
  TdStripCanvas *strip;
  TdPlayhead *playhead; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdSegmentBar, td_segment_bar, ADW_TYPE_BIN)

static void
show_segment(TdSegmentBar *self, TdDocument *document) {
  TdSegment segment = td_document_get_segment(document);
  g_autofree char *text = td_document_dup_segment_text(document);
  g_autofree char *events = td_document_dup_segment_events(document);
  gtk_label_set_text(self->segment, text);
  gtk_label_set_text(self->events, events);
  gtk_widget_set_sensitive(self->earlier, segment.number > 1);
  gtk_widget_set_sensitive(self->later, segment.number < segment.n);
}

static void
document_changed(TdSegmentBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean cut = document && td_document_is_cut(document);
  gtk_widget_set_visible(GTK_WIDGET(self), cut);
  if (cut) show_segment(self, document);
}

/* While the playhead travels, the bar names the segment that comes. */
static void
travelling_changed(TdSegmentBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean travels = td_playhead_is_travelling(self->playhead);
  gtk_spinner_set_spinning(self->spinner, travels);
  td_strip_canvas_travelling_changed(self->strip);
  if (!travels || !document) return document_changed(self);
  TdSegment segment = td_document_segment_at(document, td_playhead_get_target(self->playhead));
  g_autofree char *text = g_strdup_printf(_("Reading segment %u of %u"), segment.number, segment.n);
  gtk_label_set_text(self->events, text);
}

/* To the first event of the segment beside. */
static void
go_earlier(TdSegmentBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  TdSegment before = td_document_segment_at(document, td_document_get_segment(document).first);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, before.first + 1);
}

static void
go_later(TdSegmentBar *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, td_document_get_segment(document).end + 1);
}

void
td_segment_bar_set_playhead(TdSegmentBar *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::travelling", G_CALLBACK(travelling_changed), self,
                          G_CONNECT_SWAPPED);
  td_canvas_set_playhead(TD_CANVAS(self->strip), playhead);
  document_changed(self);
}

static void
td_segment_bar_dispose(GObject *object) {
  g_clear_object(&TD_SEGMENT_BAR(object)->playhead);
  G_OBJECT_CLASS(td_segment_bar_parent_class)->dispose(object);
}

static void
td_segment_bar_class_init(TdSegmentBarClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_segment_bar_dispose;
  g_type_ensure(TD_TYPE_STRIP_CANVAS);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/segment_bar.ui");
  gtk_widget_class_bind_template_child(widget_class, TdSegmentBar, earlier);
  gtk_widget_class_bind_template_child(widget_class, TdSegmentBar, later);
  gtk_widget_class_bind_template_child(widget_class, TdSegmentBar, segment);
  gtk_widget_class_bind_template_child(widget_class, TdSegmentBar, events);
  gtk_widget_class_bind_template_child(widget_class, TdSegmentBar, spinner);
  gtk_widget_class_bind_template_child(widget_class, TdSegmentBar, strip);
}

static void
td_segment_bar_init(TdSegmentBar *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_signal_connect_swapped(self->earlier, "clicked", G_CALLBACK(go_earlier), self);
  g_signal_connect_swapped(self->later, "clicked", G_CALLBACK(go_later), self);
}
