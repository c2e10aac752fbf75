/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/fact_view.h"

#include "ui/model/facts/fact.h"
#include "ui/widgets/base/row_label.h"

#define HEIGHT 240 /* some ten rows */

/* A text that is set beforehand makes GTK ask the display where the pointer is, once for each row.
 */
static gboolean
tell_value(GtkWidget *box, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer item) {
  TdFact *fact = gtk_list_item_get_item(item);
  if (fact) gtk_tooltip_set_text(tooltip, td_fact_get_value(fact));
  return fact != NULL;
}

static void
setup(GtkSignalListItemFactory *factory, GtkListItem *item) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = td_row_label_new(1, PANGO_ELLIPSIZE_NONE);
  GtkWidget *value = td_row_label_new(1, PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class(title, "fact-title");
  gtk_widget_set_hexpand(value, TRUE);
  gtk_box_append(GTK_BOX(box), title);
  gtk_box_append(GTK_BOX(box), value);
  gtk_widget_set_has_tooltip(box, TRUE);
  g_signal_connect_object(box, "query-tooltip", G_CALLBACK(tell_value), item, 0);
  gtk_list_item_set_child(item, box);
}

static void
bind(GtkSignalListItemFactory *factory, GtkListItem *item) {
  GtkWidget *box = gtk_list_item_get_child(item);
  TdFact *fact = gtk_list_item_get_item(item);
  td_row_label_set(TD_ROW_LABEL(gtk_widget_get_first_child(box)), td_fact_get_title(fact));
  td_row_label_set(TD_ROW_LABEL(gtk_widget_get_last_child(box)), td_fact_get_value(fact));
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
