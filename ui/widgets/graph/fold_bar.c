/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/fold_bar.h"

struct _TdFoldBar {
  AdwBin parent_instance;
  GtkLabel *text, *brief; /* brief: for a narrow graph */
  TdFoldChoice *folds;    /* (owned) */
  TdSubsetChoice *subset; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdFoldBar, td_fold_bar, ADW_TYPE_BIN)

static void
choice_changed(TdFoldBar *self) {
  g_autofree char *part = td_subset_choice_dup_brief(self->subset);
  g_autofree char *text = td_fold_choice_dup_text(self->folds);
  g_autofree char *brief = td_fold_choice_dup_brief(self->folds);
  gtk_widget_set_visible(GTK_WIDGET(self), text && !part);
  gtk_label_set_text(self->text, text ? text : "");
  gtk_label_set_text(self->brief, brief ? brief : "");
  gtk_widget_set_tooltip_text(GTK_WIDGET(self), text);
}

void
td_fold_bar_set_choices(TdFoldBar *self, TdFoldChoice *folds, TdSubsetChoice *subset) {
  g_set_object(&self->folds, folds);
  g_set_object(&self->subset, subset);
  g_signal_connect_object(folds, "changed", G_CALLBACK(choice_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(subset, "changed", G_CALLBACK(choice_changed), self, G_CONNECT_SWAPPED);
  choice_changed(self);
}

static void
td_fold_bar_dispose(GObject *object) {
  TdFoldBar *self = TD_FOLD_BAR(object);
  g_clear_object(&self->folds);
  g_clear_object(&self->subset);
  G_OBJECT_CLASS(td_fold_bar_parent_class)->dispose(object);
}

static void
td_fold_bar_class_init(TdFoldBarClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_fold_bar_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/fold_bar.ui");
  gtk_widget_class_bind_template_child(widget_class, TdFoldBar, text);
  gtk_widget_class_bind_template_child(widget_class, TdFoldBar, brief);
}

static void
td_fold_bar_init(TdFoldBar *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}
