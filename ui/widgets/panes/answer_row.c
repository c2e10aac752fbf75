/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/answer_row.h"

#include "ui/model/playhead/playhead_steps.h"

#include <glib/gi18n.h>

struct _TdAnswerRow {
  GtkListBoxRow parent_instance;
  GtkLabel *figure, *text, *detail, *place;
  GtkProgressBar *share;
  TdAnswerItem *item; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdAnswerRow, td_answer_row, GTK_TYPE_LIST_BOX_ROW)

static void
td_answer_row_dispose(GObject *object) {
  g_clear_object(&TD_ANSWER_ROW(object)->item);
  G_OBJECT_CLASS(td_answer_row_parent_class)->dispose(object);
}

static void
td_answer_row_class_init(TdAnswerRowClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_answer_row_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/answer_row.ui");
  gtk_widget_class_bind_template_child(widget_class, TdAnswerRow, figure);
  gtk_widget_class_bind_template_child(widget_class, TdAnswerRow, text);
  gtk_widget_class_bind_template_child(widget_class, TdAnswerRow, detail);
  gtk_widget_class_bind_template_child(widget_class, TdAnswerRow, place);
  gtk_widget_class_bind_template_child(widget_class, TdAnswerRow, share);
}

static void
td_answer_row_init(TdAnswerRow *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}

static void
set_text(GtkLabel *label, const char *text) {
  gtk_label_set_text(label, text);
  gtk_widget_set_visible(GTK_WIDGET(label), *text != '\0');
}

static void
set_share(TdAnswerRow *self, double share) {
  gtk_widget_set_visible(GTK_WIDGET(self->share), share >= 0);
  if (share < 0) return;
  g_autofree char *percent = g_strdup_printf(_("%.0f %% of the time of all passes"), 100 * share);
  gtk_progress_bar_set_fraction(self->share, MIN(share, 1));
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->share), percent);
}

GtkWidget *
td_answer_row_new(TdAnswerItem *item) {
  TdAnswerRow *self = g_object_new(TD_TYPE_ANSWER_ROW, NULL);
  const char *figure = td_answer_item_get_figure(item), *text = td_answer_item_get_text(item);
  g_autofree char *label = *figure ? g_strdup_printf("%s: %s", figure, text) : g_strdup(text);
  self->item = g_object_ref(item);
  set_text(self->figure, figure);
  set_text(self->text, text);
  set_text(self->detail, td_answer_item_get_detail(item));
  set_text(self->place, td_answer_item_get_place(item));
  set_share(self, td_answer_item_get_share(item));
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->detail), td_answer_item_get_detail(item));
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(self),
                                   td_answer_item_get_seq(item) != UINT64_MAX);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return GTK_WIDGET(self);
}

TdAnswerItem *
td_answer_row_get_item(TdAnswerRow *self) {
  return self->item;
}

gboolean
td_answer_row_go(TdAnswerItem *item, TdPlayhead *playhead) {
  uint64_t seq = td_answer_item_get_seq(item);
  uint32_t node = td_answer_item_get_node(item);
  if (seq == UINT64_MAX) return FALSE;
  if (node == TD_NONE)
    td_playhead_show_problem(playhead, seq);
  else
    td_playhead_show_node(playhead, seq + 1, node);
  return TRUE;
}
