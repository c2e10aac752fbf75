/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/screenshot.h"

#include "app/command.h"

/* Frames after the last change: a list shows its rows and scrolls in the frames after it gets them,
 * and the inspector takes 100 ms. */
#define QUIET_FRAMES 16

static int exit_status = TD_EXIT_OK;

static GdkTexture *
render(GtkWidget *widget) {
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(widget);
  int width = gdk_paintable_get_intrinsic_width(paintable);
  int height = gdk_paintable_get_intrinsic_height(paintable);
  g_autoptr(GtkSnapshot) snapshot = gtk_snapshot_new();
  gdk_paintable_snapshot(paintable, snapshot, width, height);
  g_autoptr(GskRenderNode) node = gtk_snapshot_to_node(snapshot);
  GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(widget));
  return node
             ? gsk_renderer_render_texture(renderer, node, &GRAPHENE_RECT_INIT(0, 0, width, height))
             : NULL;
}

static void
save(TdWindow *window, const char *path) {
  g_autoptr(GdkTexture) texture = render(GTK_WIDGET(window));
  if (!texture || !gdk_texture_save_to_png(texture, path))
    exit_status = td_command_fail(path, "cannot write the picture");
}

static gboolean
frame_cb(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  const TdWindowRequest *request = data;
  TdWindow *window = TD_WINDOW(widget);
  int quiet = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(window), "quiet-frames"));
  quiet = td_window_is_settled(window) ? quiet + 1 : 0;
  g_object_set_data(G_OBJECT(window), "quiet-frames", GINT_TO_POINTER(quiet));
  if (quiet < QUIET_FRAMES) return G_SOURCE_CONTINUE;
  save(window, request->screenshot);
  gtk_window_destroy(GTK_WINDOW(window));
  return G_SOURCE_REMOVE;
}

void
td_screenshot_when_settled(TdWindow *window, const TdWindowRequest *request) {
  gtk_widget_add_tick_callback(GTK_WIDGET(window), frame_cb, (gpointer)request, NULL);
}

int
td_screenshot_status(void) {
  return exit_status;
}
