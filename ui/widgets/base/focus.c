/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/focus.h"

gboolean
td_focus_is_in(GtkWidget *widget) {
  GtkRoot *root = gtk_widget_get_root(widget);
  GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
  return focus && (focus == widget || gtk_widget_is_ancestor(focus, widget));
}

void
td_focus_drop(GtkWidget *widget) {
  if (td_focus_is_in(widget)) gtk_root_set_focus(gtk_widget_get_root(widget), NULL);
}
