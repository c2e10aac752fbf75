/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/compare_window.h"

#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"
#include "ui/model/facts/facts.h"
#include "ui/window/notice.h"

#include <glib/gi18n.h>
#include <resources.h>

struct _TdCompareWindow {
  AdwApplicationWindow parent_instance;
  GtkOverlay *toasts;
  AdwWindowTitle *title;
  GtkStack *pages;
  AdwStatusPage *busy_page, *error_page;
  GtkSpinner *spinner;
  GtkProgressBar *progress;
  TdCompareView *view;
  TdSideBySide *sides; /* (owned) */
  TdNotice notice;
  GCancellable *cancellable; /* (owned) of all that is in progress */
  TdDocument *documents[2];  /* (owned) */
  TdAligned *aligned;        /* (owned) until it is shown */
  gboolean passes;
  uint32_t graph_task[2]; /* the same */
  gboolean finds;         /* somebody said where to open */
  guint n_waiting;        /* documents and alignment that are not there yet */
};

G_DEFINE_FINAL_TYPE(TdCompareWindow, td_compare_window, ADW_TYPE_APPLICATION_WINDOW)

static guint ready_signal;

/* ---- reading ---- */

/* "two_layers.tape · PyTorch 2.13", or "Backward pass 3 of 9": the window's title has the tape. */
static char *
dup_title(TdCompareWindow *self, int side) {
  TdDocument *document = self->documents[side];
  if (self->passes) {
    uint32_t n, process = td_document_get_process(document);
    uint32_t number =
        td_pass_number(td_document_get_whole(document), process, self->graph_task[side], &n);
    return g_strdup_printf(_("Backward pass %u of %u"), number, n);
  }
  g_autofree char *name = g_path_get_basename(td_document_get_path(document));
  g_autofree char *engine = td_facts_engine_text(document);
  return g_strdup_printf("%s · %s", name, engine);
}

static void
show_page(TdCompareWindow *self, const char *page) {
  gtk_stack_set_visible_child_name(self->pages, page);
  gtk_spinner_set_spinning(self->spinner, strcmp(page, "busy") == 0);
}

/* A tape may be that of several processes. */
static void
show_process(TdCompareWindow *self, int side) {
  TdDocument *document = self->documents[side];
  if (self->passes)
    td_document_set_process(document, td_catalog_process_of_task(td_document_get_whole(document),
                                                                 self->graph_task[side]));
}

static void
show_sides(TdCompareWindow *self) {
  for (int side = 0; side < 2; side++) {
    show_process(self, side);
    g_autofree char *title = dup_title(self, side);
    td_compare_view_set_title(self->view, side, title);
  }
  td_side_by_side_show(self->sides, self->documents[0], self->documents[1],
                       g_steal_pointer(&self->aligned));
  g_signal_emit(self, ready_signal, 0);
  show_page(self, "sides");
  gtk_widget_child_focus(GTK_WIDGET(self->view), GTK_DIR_TAB_FORWARD);
}

/* What comes later is no use. Whoever looked for a moment on the left has said if there is none:
 * then is_told, and the window goes. */
static void
fail(TdCompareWindow *self, const GError *error, gboolean is_told) {
  if (g_cancellable_is_cancelled(self->cancellable)) return;
  g_cancellable_cancel(self->cancellable);
  if (is_told) {
    gtk_window_destroy(GTK_WINDOW(self));
    return;
  }
  g_autofree char *text = g_markup_escape_text(error->message, -1);
  adw_status_page_set_description(self->error_page, text);
  show_page(self, "error");
}

static void
arrived(TdCompareWindow *self, const GError *error, gboolean is_told) {
  self->n_waiting--;
  if (error)
    fail(self, error, is_told);
  else if (!self->n_waiting && !g_cancellable_is_cancelled(self->cancellable))
    show_sides(self);
}

/* Names the pass that a tape lacks. */
static void
name_pass(TdCompareWindow *self, int side, GError *error) {
  g_free(error->message);
  error->message = g_strdup_printf(_("The tape has no graph task %u."), self->graph_task[side]);
}

static void
document_loaded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdCompareWindow) self = data;
  g_autoptr(GError) error = NULL;
  td_document_load_finish(TD_DOCUMENT(source), result, &error);
  int side = source == G_OBJECT(self->documents[1]);
  gboolean is_nowhere = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  if (is_nowhere && self->passes) name_pass(self, side, error);
  arrived(self, error, is_nowhere && self->finds && side == 0);
}

static void
aligned(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdCompareWindow) self = data;
  g_autoptr(GError) error = NULL;
  self->aligned = td_alignment_work_finish(result, &error);
  arrived(self, error, FALSE);
}

static void
progress_changed(TdCompareWindow *self) {
  if (g_cancellable_is_cancelled(self->cancellable)) return;
  gtk_progress_bar_set_fraction(self->progress, (td_document_get_progress(self->documents[0]) +
                                                 td_document_get_progress(self->documents[1])) /
                                                    2);
}

/* In the worker that loads the tape. */
static gboolean
find_pass(td_tape *tape, const td_catalog *whole, gpointer data, uint64_t *position) {
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(whole, GPOINTER_TO_UINT(data));
  if (pass) *position = pass->begin_seq + 1;
  return pass != NULL;
}

static void
load(TdCompareWindow *self, int side, const char *path) {
  TdDocument *document = self->documents[side] = td_document_new(path);
  if (self->passes)
    td_document_set_start(document, find_pass, GUINT_TO_POINTER(self->graph_task[side]));
  g_signal_connect_object(document, "notify::progress", G_CALLBACK(progress_changed), self,
                          G_CONNECT_SWAPPED);
}

static void
begin(TdCompareWindow *self, const TdAlignmentWish *wish, TdFindPosition find, gpointer data) {
  self->passes = wish->passes;
  self->finds = find != NULL;
  for (int side = 0; side < 2; side++) {
    self->graph_task[side] = wish->graph_task[side];
    load(self, side, wish->path[side]);
  }
  if (find) td_document_set_start(self->documents[0], find, data);
  self->n_waiting = 3;
  for (int side = 0; side < 2; side++)
    td_document_load_async(self->documents[side], self->cancellable, document_loaded,
                           g_object_ref(self));
  td_alignment_work_async(wish, self->cancellable, aligned, g_object_ref(self));
  show_page(self, "busy");
}

static void
set_titles(TdCompareWindow *self, const TdAlignmentWish *wish) {
  g_autofree char *a = g_path_get_basename(wish->path[0]), *b = g_path_get_basename(wish->path[1]);
  g_autofree char *both = g_strdup_printf(_("%s beside %s"), a, b);
  const char *title = wish->passes && strcmp(wish->path[0], wish->path[1]) == 0 ? a : both;
  adw_window_title_set_title(self->title, title);
  adw_window_title_set_subtitle(self->title, wish->passes ? _("Two backward passes") : "");
  gtk_window_set_title(GTK_WINDOW(self), title);
}

void
td_compare_window_say(TdCompareWindow *self, const char *text) {
  td_notice_say(&self->notice, text);
}

TdSideBySide *
td_compare_window_get_sides(TdCompareWindow *self) {
  return self->sides;
}

TdCompareView *
td_compare_window_get_view(TdCompareWindow *self) {
  return self->view;
}

gboolean
td_compare_window_is_settled(GtkWindow *window) {
  TdCompareWindow *self = TD_COMPARE_WINDOW(window);
  if (self->n_waiting) return g_cancellable_is_cancelled(self->cancellable);
  for (int side = 0; side < 2; side++) {
    TdPlayhead *playhead = td_side_by_side_get_playhead(self->sides, side);
    TdDocument *document = td_playhead_get_document(playhead);
    if (!document) continue;
    uint64_t position = td_playhead_get_position(playhead);
    if (td_playhead_is_travelling(playhead) ||
        td_document_get_graph_task(document) != td_document_graph_task_at(document, position))
      return FALSE;
  }
  return TRUE;
}

static gboolean
td_compare_window_close_request(GtkWindow *window) {
  g_cancellable_cancel(TD_COMPARE_WINDOW(window)->cancellable);
  return GTK_WINDOW_CLASS(td_compare_window_parent_class)->close_request(window);
}

/* Workers may still hold the window. What they bring finds it cancelled. */
static void
td_compare_window_dispose(GObject *object) {
  g_cancellable_cancel(TD_COMPARE_WINDOW(object)->cancellable);
  td_notice_clear(&TD_COMPARE_WINDOW(object)->notice);
  G_OBJECT_CLASS(td_compare_window_parent_class)->dispose(object);
}

static void
td_compare_window_finalize(GObject *object) {
  TdCompareWindow *self = TD_COMPARE_WINDOW(object);
  g_clear_object(&self->cancellable);
  g_clear_object(&self->sides);
  g_clear_object(&self->documents[0]);
  g_clear_object(&self->documents[1]);
  g_clear_pointer(&self->aligned, td_aligned_free);
  G_OBJECT_CLASS(td_compare_window_parent_class)->finalize(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdCompareWindow, child)

static void
td_compare_window_class_init(TdCompareWindowClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_compare_window_dispose;
  G_OBJECT_CLASS(klass)->finalize = td_compare_window_finalize;
  GTK_WINDOW_CLASS(klass)->close_request = td_compare_window_close_request;
  ready_signal = g_signal_new("ready", TD_TYPE_COMPARE_WINDOW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                              NULL, G_TYPE_NONE, 0);
  g_resources_register(td_get_resource());
  g_type_ensure(TD_TYPE_COMPARE_VIEW);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/compare_window.ui");
  BIND(toasts);
  BIND(title);
  BIND(pages);
  BIND(busy_page);
  BIND(error_page);
  BIND(spinner);
  BIND(progress);
  BIND(view);
}

static void
td_compare_window_init(TdCompareWindow *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  td_notice_init(&self->notice, self->toasts);
  self->cancellable = g_cancellable_new();
  self->sides = td_side_by_side_new();
  td_compare_view_set_sides(self->view, self->sides);
  for (int side = 0; side < 2; side++)
    g_signal_connect_object(td_side_by_side_get_playhead(self->sides, side), "message",
                            G_CALLBACK(td_compare_window_say), self, G_CONNECT_SWAPPED);
}

TdCompareWindow *
td_compare_window_new(GtkApplication *application, const TdAlignmentWish *wish, TdFindPosition find,
                      gpointer data) {
  TdCompareWindow *self = g_object_new(TD_TYPE_COMPARE_WINDOW, "application", application, NULL);
  set_titles(self, wish);
  begin(self, wish, find, data);
  return self;
}
