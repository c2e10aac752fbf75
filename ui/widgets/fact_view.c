/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/fact_view.h"

#include "ui/model/fact.h"

#define HEIGHT 240 /* some ten rows */

static void
setup(GtkSignalListItemFactory *factory, GtkListItem *item) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = gtk_label_new(NULL), *value = gtk_label_new(NULL);
  gtk_widget_add_css_class(title, "fact-title");
  gtk_label_set_xalign(GTK_LABEL(value), 0);
  gtk_label_set_ellipsize(GTK_LABEL(value), PANGO_ELLIPSIZE_MIDDLE);
  gtk_box_append(GTK_BOX(box), title);
  gtk_box_append(GTK_BOX(box), value);
  gtk_list_item_set_child(item, box);
}

static void
bind(GtkSignalListItemFactory *factory, GtkListItem *item) {
  GtkWidget *box = gtk_list_item_get_child(item);
  TdFact *fact = gtk_list_item_get_item(item);
  GtkLabel *title = GTK_LABEL(gtk_widget_get_first_child(box));
  GtkLabel *value = GTK_LABEL(gtk_widget_get_last_child(box));
  gtk_label_set_text(title, td_fact_get_title(fact));
  gtk_label_set_text(value, td_fact_get_value(fact));
  gtk_widget_set_tooltip_text(box, td_fact_get_value(fact));
}

static void
activated(GtkListView *view, guint row, gpointer playhead) {
  g_autoptr(TdFact) fact = g_list_model_get_item(G_LIST_MODEL(gtk_list_view_get_model(view)), row);
  if (fact && td_fact_get_node(fact) != TD_NONE)
    td_playhead_set_selection(playhead, td_fact_get_node(fact));
}

GtkWidget *
td_fact_view_new(GListModel *facts, TdPlayhead *playhead) {
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
  g_signal_connect(factory, "setup", G_CALLBACK(setup), NULL);
  g_signal_connect(factory, "bind", G_CALLBACK(bind), NULL);
  GtkNoSelection *rows = gtk_no_selection_new(g_object_ref(facts));
  GtkWidget *list = gtk_list_view_new(GTK_SELECTION_MODEL(rows), factory);
  GtkWidget *scrolled = gtk_scrolled_window_new();
  gtk_list_view_set_single_click_activate(GTK_LIST_VIEW(list), TRUE);
  g_signal_connect_object(list, "activate", G_CALLBACK(activated), playhead, 0);
  gtk_widget_add_css_class(list, "fact-more");
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                 GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scrolled), HEIGHT);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), list);
  return scrolled;
}
