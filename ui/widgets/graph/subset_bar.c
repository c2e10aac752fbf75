/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/subset_bar.h"

#include "ui/model/document/document_texts.h"

#include <glib/gi18n.h>

struct _TdSubsetBar {
  AdwBin parent_instance;
  GtkLabel *text, *brief, *distance, *outside; /* brief: for a narrow graph */
  GtkWidget *distance_box;
  GtkButton *leave;
  TdPlayhead *playhead;   /* (owned) */
  TdSubsetChoice *choice; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdSubsetBar, td_subset_bar, ADW_TYPE_BIN)

/* Whoever searches, or lets the selection follow the playhead, may select a node that the part does
 * not have. */
static char *
dup_outside(TdSubsetBar *self) {
  double x, y;
  TdDocument *document = self->playhead ? td_playhead_get_document(self->playhead) : NULL;
  td_graph_scene *scene = td_subset_choice_get_scene(self->choice);
  uint32_t node = document ? td_playhead_get_selection(self->playhead) : TD_NONE;
  if (!scene || node == TD_NONE || td_graph_scene_place(scene, node, &x, &y)) return NULL;
  g_autofree char *name = td_document_dup_node_name(document, node);
  return g_strdup_printf(_("%s is not among them"), name);
}

static void
show_outside(TdSubsetBar *self) {
  g_autofree char *outside = dup_outside(self);
  gtk_label_set_text(self->outside, outside ? outside : "");
  gtk_widget_set_visible(GTK_WIDGET(self->outside), outside != NULL);
}

static void
choice_changed(TdSubsetBar *self) {
  guint distance = td_subset_choice_get_distance(self->choice);
  gboolean looks = td_subset_choice_get_start(self->choice) != TD_NONE;
  g_autofree char *text = td_subset_choice_dup_text(self->choice);
  g_autofree char *brief = td_subset_choice_dup_brief(self->choice);
  g_autofree char *edges = g_strdup_printf(ngettext("%u edge", "%u edges", distance), distance);
  gtk_widget_set_visible(GTK_WIDGET(self), text != NULL);
  gtk_label_set_text(self->text, text ? text : "");
  gtk_label_set_text(self->brief, brief ? brief : "");
  gtk_widget_set_tooltip_text(GTK_WIDGET(self), text);
  gtk_label_set_text(self->distance, edges);
  gtk_widget_set_visible(self->distance_box, distance > 0);
  gtk_button_set_label(self->leave, looks ? _("Cancel") : _("Whole Graph"));
  show_outside(self);
}

void
td_subset_bar_set_choice(TdSubsetBar *self, TdSubsetChoice *choice) {
  if (!g_set_object(&self->choice, choice)) return;
  g_signal_connect_object(choice, "changed", G_CALLBACK(choice_changed), self, G_CONNECT_SWAPPED);
  choice_changed(self);
}

void
td_subset_bar_set_playhead(TdSubsetBar *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(show_outside), self,
                          G_CONNECT_SWAPPED);
}

static void
td_subset_bar_dispose(GObject *object) {
  TdSubsetBar *self = TD_SUBSET_BAR(object);
  g_clear_object(&self->playhead);
  g_clear_object(&self->choice);
  G_OBJECT_CLASS(td_subset_bar_parent_class)->dispose(object);
}

static void
td_subset_bar_class_init(TdSubsetBarClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_subset_bar_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/subset_bar.ui");
  gtk_widget_class_bind_template_child(widget_class, TdSubsetBar, text);
  gtk_widget_class_bind_template_child(widget_class, TdSubsetBar, brief);
  gtk_widget_class_bind_template_child(widget_class, TdSubsetBar, distance);
  gtk_widget_class_bind_template_child(widget_class, TdSubsetBar, outside);
  gtk_widget_class_bind_template_child(widget_class, TdSubsetBar, distance_box);
  gtk_widget_class_bind_template_child(widget_class, TdSubsetBar, leave);
}

static void
td_subset_bar_init(TdSubsetBar *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}
