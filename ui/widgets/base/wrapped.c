/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/wrapped.h"

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

/* ---- a row ---- */

static int
space_of(GtkWidget *row) {
  return GPOINTER_TO_INT(g_object_get_data(G_OBJECT(row), "td-space"));
}

static int
width_of(GtkWidget *child) {
  int width;
  gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &width, NULL, NULL);
  return width;
}

/* What the others leave of `width` to the child that expands. */
static int
rest_of(GtkWidget *row, int width) {
  for (GtkWidget *child = gtk_widget_get_first_child(row); child;
       child = gtk_widget_get_next_sibling(child))
    if (!gtk_widget_compute_expand(child, GTK_ORIENTATION_HORIZONTAL))
      width -= width_of(child) + space_of(row);
  return MAX(width, 0);
}

static void
measure_row(GtkWidget *row, GtkOrientation orientation, int for_size, int *minimum, int *natural,
            int *minimum_baseline, int *natural_baseline) {
  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_HORIZONTAL) return;
  int rest = for_size < 0 ? -1 : rest_of(row, for_size), height;
  for (GtkWidget *child = gtk_widget_get_first_child(row); child;
       child = gtk_widget_get_next_sibling(child)) {
    gtk_widget_measure(child, orientation,
                       gtk_widget_compute_expand(child, GTK_ORIENTATION_HORIZONTAL) ? rest : -1,
                       NULL, &height, NULL, NULL);
    *minimum = *natural = MAX(*natural, height);
  }
}

static void
allocate_row(GtkWidget *row, int width, int height, int baseline) {
  gboolean mirrored = gtk_widget_get_direction(row) == GTK_TEXT_DIR_RTL;
  int at = 0, rest = rest_of(row, width);
  for (GtkWidget *child = gtk_widget_get_first_child(row); child;
       child = gtk_widget_get_next_sibling(child)) {
    int wide =
        gtk_widget_compute_expand(child, GTK_ORIENTATION_HORIZONTAL) ? rest : width_of(child);
    GtkAllocation place = {mirrored ? width - at - wide : at, 0, wide, height};
    gtk_widget_size_allocate(child, &place, -1);
    at += wide + space_of(row);
  }
}

GtkWidget *
td_wrapped_row_new(int space) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_set_layout_manager(row, gtk_custom_layout_new(mode, measure_row, allocate_row));
  g_object_set_data(G_OBJECT(row), "td-space", GINT_TO_POINTER(space));
  return row;
}

void
td_wrapped_fix(GtkWidget *widget, int chars) {
  if (GTK_IS_LABEL(widget)) {
    gtk_label_set_width_chars(GTK_LABEL(widget), chars);
    gtk_label_set_max_width_chars(GTK_LABEL(widget), chars);
  }
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
       child = gtk_widget_get_next_sibling(child))
    td_wrapped_fix(child, chars);
}
