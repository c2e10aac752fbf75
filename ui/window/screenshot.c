/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/screenshot.h"

#include "app/common/exit.h"

/* Frames after the last change: a list shows its rows and scrolls in the frames after it gets them,
 * and the inspector takes 100 ms. */
#define QUIET_FRAMES 16
#define MAX_ATTEMPTS 300

static int exit_status = TD_EXIT_OK;

typedef struct Wish {
  gboolean (*is_settled)(GtkWindow *window);
  const char *path; /* (borrowed) */
} Wish;

/* In pixels of the screen: on a fine one the picture is as sharp as the window. */
static GdkTexture *
render(GtkWidget *widget) {
  float scale = (float)gtk_widget_get_scale_factor(widget);
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(widget);
  int width = gdk_paintable_get_intrinsic_width(paintable);
  int height = gdk_paintable_get_intrinsic_height(paintable);
  g_autoptr(GtkSnapshot) snapshot = gtk_snapshot_new();
  gtk_snapshot_scale(snapshot, scale, scale);
  gdk_paintable_snapshot(paintable, snapshot, width, height);
  g_autoptr(GskRenderNode) node = gtk_snapshot_to_node(snapshot);
  GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(widget));
  graphene_rect_t area = GRAPHENE_RECT_INIT(0, 0, (float)width * scale, (float)height * scale);
  return node ? gsk_renderer_render_texture(renderer, node, &area) : NULL;
}

static int
count_up(GtkWindow *window, const char *key, gboolean goes_on) {
  int n = goes_on ? GPOINTER_TO_INT(g_object_get_data(G_OBJECT(window), key)) + 1 : 0;
  g_object_set_data(G_OBJECT(window), key, GINT_TO_POINTER(n));
  return n;
}

/* There is no picture of a widget that waits for its new place: then a later frame has one. */
static gboolean
save(GtkWindow *window, const char *path) {
  g_autoptr(GdkTexture) texture = render(GTK_WIDGET(window));
  if (!texture && count_up(window, "attempts", TRUE) < MAX_ATTEMPTS) return FALSE;
  if (!texture || !gdk_texture_save_to_png(texture, path))
    exit_status = td_command_fail(path, "cannot write the picture");
  return TRUE;
}

static gboolean
frame_cb(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  const Wish *wish = data;
  GtkWindow *window = GTK_WINDOW(widget);
  int quiet = count_up(window, "quiet-frames", wish->is_settled(window));
  if (quiet < QUIET_FRAMES || !save(window, wish->path)) return G_SOURCE_CONTINUE;
  gtk_window_destroy(window);
  return G_SOURCE_REMOVE;
}

void
td_screenshot_when_settled(GtkWindow *window, gboolean (*is_settled)(GtkWindow *window),
                           const char *path) {
  Wish *wish = g_new(Wish, 1);
  *wish = (Wish){is_settled, path};
  gtk_widget_add_tick_callback(GTK_WIDGET(window), frame_cb, wish, g_free);
}

int
td_screenshot_status(void) {
  return exit_status;
}
