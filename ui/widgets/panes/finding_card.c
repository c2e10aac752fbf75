/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/finding_card.h"

#include <glib/gi18n.h>

struct _TdFindingCard {
  GtkListBoxRow parent_instance;
  GtkLabel *title, *text, *advice, *place;
  GtkButton *show, *why, *compare, *save;
  TdFindingItem *item; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdFindingCard, td_finding_card, GTK_TYPE_LIST_BOX_ROW)

static void
copy(TdFindingCard *self) {
  g_autofree char *all = td_finding_item_dup_all(self->item);
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(self)), all);
}

static void
td_finding_card_dispose(GObject *object) {
  g_clear_object(&TD_FINDING_CARD(object)->item);
  G_OBJECT_CLASS(td_finding_card_parent_class)->dispose(object);
}

static void
td_finding_card_class_init(TdFindingCardClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_finding_card_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/finding_card.ui");
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, title);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, text);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, advice);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, place);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, show);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, why);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, compare);
  gtk_widget_class_bind_template_child(widget_class, TdFindingCard, save);
  gtk_widget_class_bind_template_callback(widget_class, copy);
}

static void
td_finding_card_init(TdFindingCard *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}

static void
set_text(GtkLabel *label, const char *text) {
  gtk_label_set_text(label, text);
  gtk_widget_set_visible(GTK_WIDGET(label), *text != '\0');
}

static void
offer_passes(TdFindingCard *self) {
  uint32_t passes[2];
  if (!td_finding_item_get_passes(self->item, passes)) return;
  gtk_actionable_set_action_name(GTK_ACTIONABLE(self->compare), "win.compare-finding");
  gtk_actionable_set_action_target(GTK_ACTIONABLE(self->compare), "(tuuu)",
                                   td_finding_item_get_seq(self->item),
                                   td_finding_item_get_node(self->item), passes[0], passes[1]);
  gtk_widget_set_visible(GTK_WIDGET(self->compare), TRUE);
}

GtkWidget *
td_finding_card_new(TdFindingItem *item) {
  TdFindingCard *self = g_object_new(TD_TYPE_FINDING_CARD, NULL);
  uint64_t seq = td_finding_item_get_seq(item);
  self->item = g_object_ref(item);
  set_text(self->title, td_finding_item_get_title(item));
  set_text(self->text, td_finding_item_get_text(item));
  set_text(self->advice, td_finding_item_get_advice(item));
  set_text(self->place, td_finding_item_get_place(item));
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->text), td_finding_item_get_text(item));
  gtk_actionable_set_action_target(GTK_ACTIONABLE(self->show), "t", seq);
  gtk_actionable_set_action_target(GTK_ACTIONABLE(self->why), "t", seq);
  gtk_actionable_set_action_target(GTK_ACTIONABLE(self->save), "t", seq);
  offer_passes(self);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 td_finding_item_get_title(item), -1);
  return GTK_WIDGET(self);
}
