/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/wrapped.h"

#include <adwaita.h>

static void
measure(GtkWidget *bin, GtkOrientation orientation, int for_size, int *minimum, int *natural,
        int *minimum_baseline, int *natural_baseline) {
  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_VERTICAL)
    gtk_widget_measure(gtk_widget_get_first_child(bin), orientation, for_size, minimum, natural,
                       NULL, NULL);
}

static void
allocate(GtkWidget *bin, int width, int height, int baseline) {
  gtk_widget_allocate(gtk_widget_get_first_child(bin), width, height, baseline, NULL);
}

static GtkSizeRequestMode
mode(GtkWidget *bin) {
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

void
td_wrapped_init(GtkWidget *bin) {
  gtk_widget_set_layout_manager(bin, gtk_custom_layout_new(mode, measure, allocate));
}

GtkWidget *
td_wrapped_new(GtkLabel *label) {
  GtkWidget *bin = adw_bin_new();
  td_wrapped_init(bin);
  adw_bin_set_child(ADW_BIN(bin), GTK_WIDGET(label));
  return bin;
}
