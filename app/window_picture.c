/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/window_picture.h"

#include "app/compare_window.h"
#include "app/output_file.h"
#include "app/picture_file.h"
#include "app/save_chooser.h"
#include "app/window.h"
#include "ui/widgets/canvas.h"
#include "ui/widgets/graph_canvas.h"

#include <errno.h>
#include <glib/gi18n.h>

#define FOCUSED "focused-canvas"

/* A picture as it was when somebody asked for it. The program and the playhead may go on. */
typedef struct Shot {
  GtkWindow *window;     /* (owned) */
  cairo_surface_t *inks; /* (owned) what cairo drew, in pixels */
  int width, height, scale;
} Shot;

static void
say(GtkWindow *window, const char *text) {
  if (TD_IS_WINDOW(window))
    td_window_say(TD_WINDOW(window), text);
  else
    td_compare_window_say(TD_COMPARE_WINDOW(window), text);
}

static Shot *
shot_new(TdCanvas *canvas) {
  GtkWidget *widget = GTK_WIDGET(canvas);
  Shot *shot = g_new(Shot, 1);
  *shot = (Shot){.window = g_object_ref(GTK_WINDOW(gtk_widget_get_root(widget))),
                 .width = gtk_widget_get_width(widget),
                 .height = gtk_widget_get_height(widget),
                 .scale = gtk_widget_get_scale_factor(widget)};
  cairo_rectangle_t extents = {0, 0, shot->width, shot->height};
  shot->inks = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, &extents);
  cairo_t *cr = cairo_create(shot->inks);
  td_canvas_paint(canvas, cr);
  cairo_destroy(cr);
  return shot;
}

static void
shot_free(gpointer data) {
  Shot *shot = data;
  cairo_surface_destroy(shot->inks);
  g_object_unref(shot->window);
  g_free(shot);
}

static void
draw_shot(const void *data, cairo_t *cr) {
  const Shot *shot = data;
  cairo_set_source_surface(cr, shot->inks, 0, 0);
  cairo_paint(cr);
}

/* ---- to a file ---- */

/* NULL, or why not. */
static const char *
write_shot(const Shot *shot, const char *path) {
  const td_picture_format *format = td_picture_format_find(path);
  td_picture picture = {shot->width, shot->height, shot->scale, draw_shot, shot};
  td_output_file output;
  if (!format) return _("the name must end in .png, .svg or .pdf");
  td_output_file_begin(&output, path);
  const char *failure = td_picture_write(&picture, format, output.part);
  if (failure) {
    td_output_file_drop(&output);
    return failure;
  }
  return td_output_file_keep(&output, true) ? NULL : g_strerror(errno);
}

static void
save_shot(const char *path, gpointer data) {
  const Shot *shot = data;
  const char *failure = write_shot(shot, path);
  g_autofree char *name = g_path_get_basename(path);
  g_autofree char *text = failure ? g_strdup_printf(_("Not saved: %s"), failure)
                                  : g_strdup_printf(_("Saved: %s"), name);
  say(shot->window, text);
}

static GtkFileFilter *
list_endings(void) {
  GtkFileFilter *filter = gtk_file_filter_new();
  gtk_file_filter_set_name(filter, _("Pictures: .png, .svg or .pdf"));
  gtk_file_filter_add_suffix(filter, "png");
  gtk_file_filter_add_suffix(filter, "svg");
  gtk_file_filter_add_suffix(filter, "pdf");
  return filter;
}

static gboolean
can_show(TdCanvas *canvas) {
  if (td_canvas_has_picture(canvas)) return TRUE;
  say(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(canvas))), _("The picture is not there yet"));
  return FALSE;
}

static void
save_picture(TdCanvas *canvas) {
  if (!can_show(canvas)) return;
  Shot *shot = shot_new(canvas);
  g_autoptr(GtkFileFilter) filter = list_endings();
  g_autofree char *ending = g_strdup_printf("-%s.png", TD_CANVAS_GET_CLASS(canvas)->picture_name);
  const TdSaveWish wish = {.title = _("Save the Picture"),
                           .tape = td_document_get_path(td_canvas_get_document(canvas)),
                           .ending = ending,
                           .filter = filter};
  td_save_chooser_show(shot->window, &wish, save_shot, shot, shot_free);
}

/* ---- to the clipboard ---- */

static cairo_surface_t *
make_pixels(const Shot *shot) {
  cairo_surface_t *pixels = cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, shot->width * shot->scale, shot->height * shot->scale);
  cairo_surface_set_device_scale(pixels, shot->scale, shot->scale);
  cairo_t *cr = cairo_create(pixels);
  draw_shot(shot, cr);
  cairo_destroy(cr);
  cairo_surface_flush(pixels);
  return pixels;
}

/* GDK_MEMORY_DEFAULT is what cairo has. */
static GdkTexture *
make_texture(const Shot *shot) {
  cairo_surface_t *pixels = make_pixels(shot);
  int width = cairo_image_surface_get_width(pixels),
      height = cairo_image_surface_get_height(pixels);
  gsize stride = (gsize)cairo_image_surface_get_stride(pixels);
  g_autoptr(GBytes) bytes =
      g_bytes_new(cairo_image_surface_get_data(pixels), stride * (gsize)height);
  cairo_surface_destroy(pixels);
  return gdk_memory_texture_new(width, height, GDK_MEMORY_DEFAULT, bytes, stride);
}

static void
copy_picture(TdCanvas *canvas) {
  if (!can_show(canvas)) return;
  Shot *shot = shot_new(canvas);
  g_autoptr(GdkTexture) texture = make_texture(shot);
  gdk_clipboard_set_texture(gtk_widget_get_clipboard(GTK_WIDGET(canvas)), texture);
  say(shot->window, _("Copied"));
  shot_free(shot);
}

/* ---- which one ---- */

/* A menu takes the focus before somebody chooses in it. */
static void
focus_moved(GtkWindow *window) {
  GtkWidget *focus = gtk_window_get_focus(window);
  GtkWidget *canvas = focus ? gtk_widget_get_ancestor(focus, TD_TYPE_CANVAS) : NULL;
  if (focus && !canvas && gtk_widget_get_ancestor(focus, GTK_TYPE_POPOVER)) return;
  if (focus) g_object_set_data(G_OBJECT(window), FOCUSED, canvas);
}

static GtkWidget *
find_graph(GtkWidget *widget) {
  GtkWidget *found = TD_IS_GRAPH_CANVAS(widget) ? widget : NULL;
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child && !found;
       child = gtk_widget_get_next_sibling(child))
    found = find_graph(child);
  return found;
}

void
td_window_save_picture(GtkWindow *window) {
  GtkWidget *canvas = g_object_get_data(G_OBJECT(window), FOCUSED);
  if (!canvas || !gtk_widget_get_mapped(canvas)) canvas = find_graph(GTK_WIDGET(window));
  save_picture(TD_CANVAS(canvas));
}

static void
listen(GtkWidget *widget) {
  if (TD_IS_CANVAS(widget)) {
    g_signal_connect(widget, "save-picture", G_CALLBACK(save_picture), NULL);
    g_signal_connect(widget, "copy-picture", G_CALLBACK(copy_picture), NULL);
  }
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
       child = gtk_widget_get_next_sibling(child))
    listen(child);
}

void
td_window_pictures_install(GtkWindow *window) {
  listen(GTK_WIDGET(window));
  g_signal_connect(window, "notify::focus-widget", G_CALLBACK(focus_moved), NULL);
}
