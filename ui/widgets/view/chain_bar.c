/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/chain_bar.h"

struct _TdChainBar {
  AdwBin parent_instance;
  GtkLabel *place, *text;
  GtkWidget *further, *close;
  TdShownChain *way; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdChainBar, td_chain_bar, ADW_TYPE_BIN)

static void
changed(TdChainBar *self) {
  g_autofree char *place = td_shown_chain_dup_place(self->way);
  g_autofree char *text = td_shown_chain_dup_text(self->way);
  gtk_widget_set_visible(GTK_WIDGET(self), text != NULL);
  if (!text) return;
  gtk_label_set_text(self->place, place);
  gtk_label_set_text(self->text, text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->text), text);
  gtk_widget_set_sensitive(self->further, !td_shown_chain_is_over(self->way));
}

void
td_chain_bar_set_chain(TdChainBar *self, TdShownChain *way) {
  if (!g_set_object(&self->way, way)) return;
  g_signal_connect_object(way, "changed", G_CALLBACK(changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(self->close, "clicked", G_CALLBACK(td_shown_chain_end), way,
                          G_CONNECT_SWAPPED);
  changed(self);
}

static void
td_chain_bar_dispose(GObject *object) {
  g_clear_object(&TD_CHAIN_BAR(object)->way);
  G_OBJECT_CLASS(td_chain_bar_parent_class)->dispose(object);
}

static void
td_chain_bar_class_init(TdChainBarClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_chain_bar_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/chain_bar.ui");
  gtk_widget_class_bind_template_child(widget_class, TdChainBar, place);
  gtk_widget_class_bind_template_child(widget_class, TdChainBar, text);
  gtk_widget_class_bind_template_child(widget_class, TdChainBar, further);
  gtk_widget_class_bind_template_child(widget_class, TdChainBar, close);
}

static void
td_chain_bar_init(TdChainBar *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}
