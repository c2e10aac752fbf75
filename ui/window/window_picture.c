/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_picture.h"

#include "ui/widgets/base/canvas.h"
#include "ui/widgets/graph/graph_canvas.h"
#include "ui/window/compare_window.h"
#include "ui/window/picture_shot.h"
#include "ui/window/save_chooser.h"
#include "ui/window/window.h"

#include <glib/gi18n.h>

#define FOCUSED "focused-canvas"
#define SAVING "saving-picture"

/* A picture that takes longer says so. */
#define PATIENCE_MS 700

static void
say(GtkWindow *window, const char *text) {
  if (TD_IS_WINDOW(window))
    td_window_say(TD_WINDOW(window), text);
  else
    td_compare_window_say(TD_COMPARE_WINDOW(window), text);
}

/* ---- to a file ---- */

/* One that is being written. */
typedef struct Saving {
  GtkWindow *window;         /* (owned) */
  GCancellable *cancellable; /* (owned) */
  char *name;                /* (owned) of the file */
  guint patience;            /* source, or 0 */
} Saving;

static gboolean
patience_over(gpointer data) {
  Saving *saving = data;
  saving->patience = 0;
  say(saving->window, _("Saving the picture; Escape cancels"));
  return G_SOURCE_REMOVE;
}

/* Somebody may close the window meanwhile: the application goes on until the file is whole. */
static Saving *
saving_new(GtkWindow *window, const char *path) {
  Saving *saving = g_new0(Saving, 1);
  saving->window = g_object_ref(window);
  saving->cancellable = g_cancellable_new();
  saving->name = g_path_get_basename(path);
  saving->patience = g_timeout_add(PATIENCE_MS, patience_over, saving);
  g_object_set_data(G_OBJECT(window), SAVING, saving->cancellable);
  g_application_hold(g_application_get_default());
  return saving;
}

static void
saving_free(Saving *saving) {
  g_application_release(g_application_get_default());
  g_object_set_data(G_OBJECT(saving->window), SAVING, NULL);
  g_clear_handle_id(&saving->patience, g_source_remove);
  g_object_unref(saving->cancellable);
  g_object_unref(saving->window);
  g_free(saving->name);
  g_free(saving);
}

static void
saved(GObject *source, GAsyncResult *result, gpointer data) {
  Saving *saving = data;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = td_shot_write_finish(result, &error)
                              ? g_strdup_printf(_("Saved: %s"), saving->name)
                              : g_strdup_printf(_("Not saved: %s"), error->message);
  gboolean is_cancelled = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  say(saving->window, is_cancelled ? _("The picture is not saved") : text);
  saving_free(saving);
}

typedef struct Wish {
  GtkWindow *window; /* (owned) */
  TdShot *shot;      /* (owned) */
} Wish;

static void
wish_free(gpointer data) {
  Wish *wish = data;
  td_shot_unref(wish->shot);
  g_object_unref(wish->window);
  g_free(wish);
}

static void
save_shot(const char *path, gpointer data) {
  const Wish *wish = data;
  if (g_object_get_data(G_OBJECT(wish->window), SAVING)) {
    say(wish->window, _("Not saved: Tapedeck is still saving the picture before"));
    return;
  }
  Saving *saving = saving_new(wish->window, path);
  td_shot_write_async(wish->shot, path, saving->cancellable, saved, saving);
}

gboolean
td_window_cancel_picture(GtkWindow *window) {
  GCancellable *cancellable = g_object_get_data(G_OBJECT(window), SAVING);
  if (!cancellable || g_cancellable_is_cancelled(cancellable)) return FALSE;
  g_cancellable_cancel(cancellable);
  return TRUE;
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
  Wish *wish = g_new(Wish, 1);
  *wish = (Wish){g_object_ref(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(canvas)))),
                 td_shot_new(canvas)};
  g_autoptr(GtkFileFilter) filter = list_endings();
  g_autofree char *ending = g_strdup_printf("-%s.png", TD_CANVAS_GET_CLASS(canvas)->picture_name);
  const TdSaveWish place = {.title = _("Save the Picture"),
                            .tape = td_document_get_path(td_canvas_get_document(canvas)),
                            .ending = ending,
                            .filter = filter};
  td_save_chooser_show(wish->window, &place, save_shot, wish, wish_free);
}

/* ---- to the clipboard ---- */

static void
copied(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(GtkWindow) window = data;
  g_autoptr(GdkTexture) texture = td_shot_texture_finish(result);
  gdk_clipboard_set_texture(gtk_widget_get_clipboard(GTK_WIDGET(window)), texture);
  say(window, _("Copied"));
}

static void
copy_picture(TdCanvas *canvas) {
  if (!can_show(canvas)) return;
  TdShot *shot = td_shot_new(canvas);
  td_shot_texture_async(shot, copied, g_object_ref(gtk_widget_get_root(GTK_WIDGET(canvas))));
  td_shot_unref(shot);
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
