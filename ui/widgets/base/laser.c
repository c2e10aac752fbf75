/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/laser.h"

#define SIZE 48 /* pixels */
#define CORE 7  /* the radius of what is opaque */

/* Opaque red in the middle, and a glow around it. */
static cairo_surface_t *
draw_dot(void) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, SIZE, SIZE);
  cairo_t *cairo = cairo_create(surface);
  double middle = SIZE / 2.0;
  cairo_pattern_t *glow = cairo_pattern_create_radial(middle, middle, CORE, middle, middle, middle);
  cairo_pattern_add_color_stop_rgba(glow, 0, 0.93, 0.10, 0.14, 1);
  cairo_pattern_add_color_stop_rgba(glow, 0.15, 0.93, 0.10, 0.14, 0.45);
  cairo_pattern_add_color_stop_rgba(glow, 1, 0.93, 0.10, 0.14, 0);
  cairo_set_source(cairo, glow);
  cairo_paint(cairo);
  cairo_pattern_destroy(glow);
  cairo_destroy(cairo);
  cairo_surface_flush(surface);
  return surface;
}

static GdkCursor *
make_cursor(void) {
  cairo_surface_t *dot = draw_dot();
  gsize stride = (gsize)cairo_image_surface_get_stride(dot);
  g_autoptr(GBytes) pixels = g_bytes_new(cairo_image_surface_get_data(dot), SIZE * stride);
  g_autoptr(GdkTexture) texture =
      gdk_memory_texture_new(SIZE, SIZE, GDK_MEMORY_DEFAULT, pixels, stride);
  cairo_surface_destroy(dot);
  return gdk_cursor_new_from_texture(texture, SIZE / 2, SIZE / 2, NULL);
}

void
td_laser_set(GtkWindow *window, gboolean is_on) {
  g_autoptr(GdkCursor) cursor = is_on ? make_cursor() : NULL;
  gtk_widget_set_cursor(GTK_WIDGET(window), cursor);
}

gboolean
td_laser_is_on(GtkWidget *widget) {
  GtkRoot *root = gtk_widget_get_root(widget);
  return root && gtk_widget_get_cursor(GTK_WIDGET(root)) != NULL;
}
