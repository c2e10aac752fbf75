/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/compare_side.h"

#include "ui/draw/graph_scene.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/document/passes.h"
#include "ui/widgets/graph/minimap.h"

#include <glib/gi18n.h>

struct _TdCompareSide {
  GtkBox parent_instance;
  GtkLabel *letter, *title, *place, *lone, *why;
  TdGraphCanvas *graph;
  TdMinimap *minimap;
  TdPlayhead *playhead; /* (owned) */
  uint32_t to_centre;   /* a node, or TD_NONE */
  uint64_t why_seq;     /* pop that `why` explains, UINT64_MAX: none */
};

G_DEFINE_FINAL_TYPE(TdCompareSide, td_compare_side, GTK_TYPE_BOX)

static guint focused_signal;

/* ---- texts ---- */

static void
show_place(TdCompareSide *self, TdDocument *document) {
  uint64_t position = td_playhead_get_position(self->playhead);
  uint32_t n, process = td_document_get_process(document);
  const td_catalog *whole = td_document_get_whole(document);
  uint32_t pass = td_pass_at(whole, td_document_get_length(document), process, position);
  uint32_t number = td_pass_number(whole, process, pass, &n);
  g_autofree char *event = td_format_count(position ? position - 1 : 0);
  g_autofree char *length = td_format_count(td_document_get_length(document));
  g_autofree char *time = td_format_ns((double)td_playhead_get_time_ns(self->playhead));
  g_autofree char *text = n ? g_strdup_printf(_("event %s of %s · %s · backward pass %u of %u"),
                                              event, length, time, number, n)
                            : g_strdup_printf(_("event %s of %s · %s"), event, length, time);
  gtk_label_set_text(self->place, text);
}

static void
show_why(TdCompareSide *self, TdDocument *document) {
  uint32_t queue;
  uint64_t seq = td_document_find_last_pop(document, &queue);
  if (seq == self->why_seq) return;
  self->why_seq = seq;
  g_autofree char *text = seq == UINT64_MAX ? g_strdup(_("No thread has popped a task yet."))
                                            : td_document_dup_pop_text(document, seq);
  gtk_label_set_text(self->why, text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->why), text);
}

static void
position_changed(TdCompareSide *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document) return;
  show_place(self, document);
  show_why(self, document);
}

static void
document_changed(TdCompareSide *self) {
  self->why_seq = UINT64_MAX - 1;
  position_changed(self);
}

/* ---- the middle ---- */

/* The graph shown may still be that of another pass. */
static gboolean
is_there(TdCompareSide *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  uint64_t position = td_playhead_get_position(self->playhead);
  return document && !td_playhead_is_travelling(self->playhead) &&
         td_graph_canvas_get_view(self->graph) &&
         td_document_get_graph_task(document) == td_document_graph_task_at(document, position);
}

static void
centre(TdCompareSide *self) {
  double x, y;
  uint32_t node = self->to_centre;
  if (node == TD_NONE || !is_there(self)) return;
  self->to_centre = TD_NONE;
  if (td_graph_scene_place(td_graph_canvas_get_scene(self->graph), node, &x, &y))
    td_graph_canvas_centre(self->graph, x, y);
}

void
td_compare_side_centre(TdCompareSide *self, uint32_t node) {
  self->to_centre = node;
  centre(self);
}

/* ---- the rest ---- */

static void
focus_came(TdCompareSide *self) {
  g_signal_emit(self, focused_signal, 0);
}

void
td_compare_side_set_playhead(TdCompareSide *self, const char *letter, TdPlayhead *playhead) {
  g_set_object(&self->playhead, playhead);
  gtk_label_set_text(self->letter, letter);
  g_autofree char *name = g_strdup_printf(_("Backward graph of %s"), letter);
  td_canvas_set_playhead(TD_CANVAS(self->graph), playhead);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self->graph), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                 -1);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(position_changed), self,
                          G_CONNECT_SWAPPED);
}

void
td_compare_side_set_title(TdCompareSide *self, const char *title) {
  gtk_label_set_text(self->title, title);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->title), title);
}

void
td_compare_side_set_lead(TdCompareSide *self, gboolean leads) {
  if (leads)
    gtk_widget_add_css_class(GTK_WIDGET(self), "leads");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(self), "leads");
}

void
td_compare_side_set_lone(TdCompareSide *self, const uint32_t *nodes, uint32_t n) {
  g_autofree char *count = td_format_many(n, "node", "nodes");
  g_autofree char *text = g_strdup_printf(_("%s only here, framed with dashes"), count);
  td_graph_canvas_set_lone(self->graph, nodes, n);
  gtk_label_set_text(self->lone, text);
  gtk_widget_set_visible(GTK_WIDGET(self->lone), n > 0);
}

TdGraphCanvas *
td_compare_side_get_graph(TdCompareSide *self) {
  return self->graph;
}

static void
td_compare_side_dispose(GObject *object) {
  TdCompareSide *self = TD_COMPARE_SIDE(object);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_compare_side_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdCompareSide, child)

static void
td_compare_side_class_init(TdCompareSideClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_compare_side_dispose;
  focused_signal = g_signal_new("focused", TD_TYPE_COMPARE_SIDE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  g_type_ensure(TD_TYPE_GRAPH_CANVAS);
  g_type_ensure(TD_TYPE_MINIMAP);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/compare_side.ui");
  BIND(letter);
  BIND(title);
  BIND(place);
  BIND(lone);
  BIND(why);
  BIND(graph);
  BIND(minimap);
}

static void
td_compare_side_init(TdCompareSide *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  self->to_centre = TD_NONE;
  td_minimap_set_canvas(self->minimap, self->graph);
  g_signal_connect_swapped(self->graph, "view-changed", G_CALLBACK(centre), self);
  GtkEventController *focus = gtk_event_controller_focus_new();
  g_signal_connect_swapped(focus, "enter", G_CALLBACK(focus_came), self);
  gtk_widget_add_controller(GTK_WIDGET(self), focus);
}
