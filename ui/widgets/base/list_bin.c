/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/list_bin.h"

struct _TdListBin {
  AdwBin parent_instance;
};

G_DEFINE_FINAL_TYPE(TdListBin, td_list_bin, ADW_TYPE_BIN)

static gboolean
td_list_bin_focus(GtkWidget *widget, GtkDirectionType direction) {
  gboolean is_tab = direction == GTK_DIR_TAB_FORWARD || direction == GTK_DIR_TAB_BACKWARD;
  if (is_tab && gtk_widget_get_focus_child(widget)) return FALSE;
  return GTK_WIDGET_CLASS(td_list_bin_parent_class)->focus(widget, direction);
}

static void
td_list_bin_class_init(TdListBinClass *klass) {
  GTK_WIDGET_CLASS(klass)->focus = td_list_bin_focus;
}

static void
td_list_bin_init(TdListBin *self) {
}

GtkWidget *
td_list_bin_new(GtkWidget *list) {
  GtkWidget *self = g_object_new(TD_TYPE_LIST_BIN, NULL);
  adw_bin_set_child(ADW_BIN(self), list);
  return self;
}
