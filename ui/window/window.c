/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window.h"

#include "app/common/examples.h"
#include "ui/model/base/error.h"
#include "ui/model/document/document_lives.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/facts/facts.h"
#include "ui/widgets/dialogs/start_page.h"
#include "ui/widgets/graph/node_search.h"
#include "ui/widgets/panes/bookmark_list.h"
#include "ui/widgets/view/level_badge.h"
#include "ui/window/config.h"
#include "ui/window/example_runner.h"
#include "ui/window/live_farewell.h"
#include "ui/window/live_tape.h"
#include "ui/window/notice.h"
#include "ui/window/preferences.h"
#include "ui/window/tape_chooser.h"

#include <glib/gi18n.h>
#include <resources.h>

struct _TdWindow {
  AdwApplicationWindow parent_instance;
  GtkOverlay *toasts;
  AdwWindowTitle *title;
  AdwSplitButton *open_button;
  GtkMenuButton *examples_button, *find_button, *bookmarks_button;
  GtkWidget *side_button;
  TdNodeSearch *search;
  TdBookmarkList *bookmarks;
  TdLevelBadge *level_badge;
  GtkStack *pages;
  TdStartPage *start_page;
  AdwStatusPage *busy_page, *error_page;
  GtkSpinner *spinner;
  GtkProgressBar *progress;
  TdTapeView *tape_view;
  GMenu *examples;      /* (owned) */
  TdPlayhead *playhead; /* (owned) */
  TdNotice notice;
  TdConfig *config;      /* (owned) */
  TdLiveTape *live;      /* (owned) or NULL */
  char *remote;          /* (owned) USER@HOST where that program runs or ran, or NULL: here */
  GCancellable *current; /* (owned): of what is in progress, or NULL */
  gboolean has_place;    /* where to open was said */
  uint64_t wanted_node;
};

G_DEFINE_FINAL_TYPE(TdWindow, td_window, ADW_TYPE_APPLICATION_WINDOW)

static guint changed_signal;

static void
changed(TdWindow *self) {
  g_signal_emit(self, changed_signal, 0);
}

static void
set_title(TdWindow *self, const char *title, const char *subtitle) {
  adw_window_title_set_title(self->title, title);
  adw_window_title_set_subtitle(self->title, subtitle);
  gtk_window_set_title(GTK_WINDOW(self), title);
}

static void
set_title_of_tape(TdWindow *self, TdDocument *document) {
  const td_catalog *catalog = td_document_get_whole(document);
  g_autofree char *name = g_path_get_basename(td_document_get_path(document));
  g_autofree char *script = g_path_get_basename(catalog->source);
  g_autofree char *engine = td_facts_engine_text(document);
  g_autofree char *subtitle = g_strdup_printf("%s · %s", engine, script);
  g_autofree char *title = self->remote ? g_strdup_printf(_("%s on %s"), name, self->remote) : NULL;
  set_title(self, title ? title : name, *catalog->source ? subtitle : "");
}

static void
show_page(TdWindow *self, const char *page) {
  gboolean busy = strcmp(page, "busy") == 0, tape = strcmp(page, "tape") == 0;
  gtk_stack_set_visible_child_name(self->pages, page);
  gtk_spinner_set_spinning(self->spinner, busy);
  gtk_widget_set_visible(GTK_WIDGET(self->find_button), tape);
  gtk_widget_set_visible(GTK_WIDGET(self->bookmarks_button), tape);
  gtk_widget_set_visible(self->side_button, tape);
  changed(self);
}

static void
show_busy(TdWindow *self, const char *title, const char *description, gboolean with_progress) {
  adw_status_page_set_title(self->busy_page, title);
  adw_status_page_set_description(self->busy_page, description);
  gtk_progress_bar_set_fraction(self->progress, 0);
  gtk_widget_set_visible(GTK_WIDGET(self->progress), with_progress);
  td_playhead_set_document(self->playhead, NULL);
  set_title(self, "Tapedeck", "");
  show_page(self, "busy");
}

void
td_window_show_failure(TdWindow *self, const char *title, const char *reason, const char *next) {
  g_autofree char *text = g_markup_printf_escaped("%s\n\n%s", reason, next);
  adw_status_page_set_title(self->error_page, title);
  adw_status_page_set_description(self->error_page, text);
  show_page(self, "error");
}

static GCancellable *
begin(TdWindow *self) {
  td_window_cancel(self);
  self->current = g_cancellable_new();
  return self->current;
}

/* An operation ended. FALSE if it was cancelled, or if the window waits for another one now. */
gboolean
td_window_end(TdWindow *self, GCancellable *cancellable) {
  if (g_cancellable_is_cancelled(cancellable) || self->current != cancellable) return FALSE;
  g_clear_object(&self->current);
  return TRUE;
}

static void
recent_activated(GSimpleAction *action, GVariant *parameter, gpointer data) {
  td_window_open(data, g_variant_get_string(parameter, NULL));
}

static void
example_activated(GSimpleAction *action, GVariant *parameter, gpointer data) {
  td_window_record_example(data, g_variant_get_string(parameter, NULL), NULL);
}

static void
example_page_activated(GSimpleAction *action, GVariant *parameter, gpointer data) {
  const char *name, *page;
  g_variant_get(parameter, "(&s&s)", &name, &page);
  td_window_record_example(data, name, page);
}

static void
copy_activated(GSimpleAction *action, GVariant *parameter, gpointer data) {
  gdk_clipboard_set_text(gtk_widget_get_clipboard(data), g_variant_get_string(parameter, NULL));
  td_window_say(data, _("Copied"));
}

/* A menu takes a single underscore as the mark of a key. */
static GMenuItem *
menu_item_of(const char *name) {
  g_auto(GStrv) parts = g_strsplit(name, "_", -1);
  g_autofree char *label = g_strjoinv("__", parts);
  return g_menu_item_new(label, NULL);
}

static void
show_recent(TdWindow *self) {
  g_auto(GStrv) paths = td_config_dup_recent(self->config);
  g_autoptr(GMenu) menu = g_menu_new();
  td_start_page_set_recent(self->start_page, (const char *const *)paths);
  for (guint i = 0; paths[i]; i++) {
    g_autofree char *name = g_path_get_basename(paths[i]);
    g_autoptr(GMenuItem) item = menu_item_of(name);
    g_menu_item_set_action_and_target(item, "win.open-recent", "s", paths[i]);
    g_menu_append_item(menu, item);
  }
  if (!paths[0]) g_menu_append(menu, _("No recent tapes"), "win.none");
  adw_split_button_set_menu_model(self->open_button, G_MENU_MODEL(menu));
}

static void
select_wanted(TdWindow *self, TdDocument *document) {
  if (self->wanted_node >= TD_NONE) return;
  if (td_catalog_has_node(td_document_get_catalog(document), (uint32_t)self->wanted_node))
    td_playhead_set_selection(self->playhead, (uint32_t)self->wanted_node);
  else if (td_document_is_cut(document))
    td_window_say(self, _("The node is not in this segment of the tape"));
}

void
td_window_show_document(TdWindow *self, TdDocument *document) {
  td_playhead_set_document(self->playhead, document);
  if (self->has_place) td_playhead_select_current(self->playhead);
  select_wanted(self, document);
  set_title_of_tape(self, document);
  td_config_add_recent(self->config, td_document_get_path(document));
  td_config_save(self->config);
  show_recent(self);
  show_page(self, "tape");
  td_tape_view_focus_graph(self->tape_view);
}

static const char *
advice(const GError *error) {
  if (g_error_matches(error, TD_ERROR, TD_NOT_A_TAPE))
    return _("Choose a file that `tapedeck run` wrote; its name usually ends in .tape.");
  if (g_error_matches(error, TD_ERROR, TD_UNSUPPORTED))
    return _("A newer Tapedeck wrote this tape. Update Tapedeck to open it.");
  return _("Check that the file exists and that you may read it, or open another one.");
}

static void
loaded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdWindow) self = data;
  TdDocument *document = TD_DOCUMENT(source);
  g_autoptr(GError) error = NULL;
  gboolean fine = td_document_load_finish(document, result, &error);
  g_signal_handlers_disconnect_by_data(document, self);
  if (!td_window_end(self, g_task_get_cancellable(G_TASK(result)))) return;
  if (fine) {
    td_window_show_document(self, document);
    return;
  }
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)) {
    gtk_window_destroy(GTK_WINDOW(self));
    return;
  }
  g_autofree char *name = g_path_get_basename(td_document_get_path(document));
  g_autofree char *title = g_markup_printf_escaped(_("Cannot Open “%s”"), name);
  td_window_show_failure(self, title, error->message, advice(error));
}

static void
progress_changed(TdDocument *document, GParamSpec *spec, gpointer data) {
  gtk_progress_bar_set_fraction(TD_WINDOW(data)->progress, td_document_get_progress(document));
}

static void
show_live(TdWindow *self, TdDocument *document) {
  if (td_playhead_get_document(self->playhead))
    td_playhead_update_document(self->playhead, document);
  else
    td_window_show_document(self, document);
}

/* NULL: the session of no program. */
static void
set_live(TdWindow *self, TdLiveTape *live) {
  if (self->live) g_signal_handlers_disconnect_by_data(self->live, self);
  td_tape_view_set_session(self->tape_view, live ? td_live_tape_get_session(live) : NULL);
  g_clear_object(&self->live);
  self->live = live;
  g_clear_pointer(&self->remote, g_free);
  if (!live) return;
  g_signal_connect_swapped(live, "read", G_CALLBACK(show_live), self);
  g_signal_connect_swapped(live, "failed", G_CALLBACK(td_window_say), self);
  g_signal_connect_swapped(live, "changed", G_CALLBACK(changed), self);
}

static void
leave_live(TdWindow *self) {
  if (self->live) set_live(self, NULL);
}

TdLiveSession *
td_window_get_live(TdWindow *self) {
  return self->live ? td_live_tape_get_session(self->live) : NULL;
}

void
td_window_attach(TdWindow *self, const char *session, guint32 process, const char *tape,
                 const char *remote) {
  td_window_cancel(self);
  g_autofree char *name = g_path_get_basename(tape);
  g_autofree char *title = g_markup_printf_escaped(_("Recording “%s”"), name);
  self->has_place = FALSE;
  self->wanted_node = UINT64_MAX;
  show_busy(self, title, _("The window reads what the program did so far."), FALSE);
  TdLiveTape *live = td_live_tape_new(session, process, tape, self->playhead);
  if (live) {
    set_live(self, live);
    self->remote = g_strdup(remote);
    return;
  }
  if (!g_file_test(tape, G_FILE_TEST_EXISTS)) { /* `record` names it anew at the end */
    td_window_show_start(self);
    td_window_say(self, _("The program has ended, and its tape has its final name now"));
    return;
  }
  td_window_say(self, _("The program no longer runs; this tape holds what Tapedeck recorded"));
  td_window_open(self, tape);
}

void
td_window_open(TdWindow *self, const char *path) {
  td_window_open_at(self, path, NULL, NULL, UINT64_MAX);
}

void
td_window_open_at(TdWindow *self, const char *path, TdFindPosition find, gpointer data,
                  uint64_t node) {
  GCancellable *cancellable = begin(self);
  g_autoptr(TdDocument) document = td_document_new(path);
  g_autofree char *name = g_path_get_basename(path);
  g_autofree char *title = g_markup_printf_escaped(_("Opening “%s”"), name);
  self->has_place = find != NULL;
  self->wanted_node = node;
  td_document_set_start(document, find, data);
  show_busy(self, title, NULL, TRUE);
  g_signal_connect(document, "notify::progress", G_CALLBACK(progress_changed), self);
  td_document_load_async(document, cancellable, loaded, g_object_ref(self));
}

void
td_window_show_start(TdWindow *self) {
  td_window_cancel(self);
  td_playhead_set_document(self->playhead, NULL);
  set_title(self, "Tapedeck", "");
  show_recent(self);
  show_page(self, "start");
}

static void
recorded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdWindow) self = data;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = td_example_record_finish(result, &error);
  if (!td_window_end(self, g_task_get_cancellable(G_TASK(result)))) return;
  if (path)
    td_window_open(self, path);
  else
    td_window_show_failure(self, _("Cannot Record the Example"), error->message,
                           _("Run it in a terminal to see its messages: tapedeck run EXAMPLE"));
}

GCancellable *
td_window_begin(TdWindow *self, const char *title, const char *text) {
  GCancellable *cancellable = begin(self);
  show_busy(self, title, text, FALSE);
  return cancellable;
}

gboolean
td_window_is_at_start(TdWindow *self) {
  return strcmp(gtk_stack_get_visible_child_name(self->pages), "start") == 0;
}

void
td_window_record_example(TdWindow *self, const char *name, const char *page) {
  g_autofree char *title = g_markup_printf_escaped(_("Recording “%s”"), name);
  if (page) td_tape_view_show_page(self->tape_view, page);
  GCancellable *cancellable =
      td_window_begin(self, title, _("The script runs in a process of its own."));
  td_example_record_async(name, cancellable, recorded, g_object_ref(self));
}

static void
list_examples(TdWindow *self) {
  g_autoptr(GPtrArray) examples = td_examples_load(NULL);
  for (guint i = 0; examples && i < examples->len; i++) {
    const td_example *example = g_ptr_array_index(examples, i);
    g_autoptr(GMenuItem) item = menu_item_of(example->name);
    g_menu_item_set_action_and_target(item, "win.example", "s", example->name);
    g_menu_append_item(self->examples, item);
    td_start_page_add_example(self->start_page, example->name, example->summary);
  }
}

static void
file_chosen(GtkWindow *window, const char *path) {
  td_window_open(TD_WINDOW(window), path);
}

void
td_window_choose_file(TdWindow *self) {
  td_tape_chooser_show(GTK_WINDOW(self), _("Open a Tape"), _("_Open"), file_chosen);
}

void
td_window_cancel(TdWindow *self) {
  if (!self->current && !self->live) return;
  leave_live(self);
  if (self->current) g_cancellable_cancel(self->current);
  g_clear_object(&self->current);
  show_page(self, "start");
}

void
td_window_find(TdWindow *self) {
  gtk_menu_button_popup(self->find_button);
}

void
td_window_bookmark(TdWindow *self) {
  uint64_t position = td_bookmarks_add(td_tape_view_get_bookmarks(self->tape_view));
  gtk_menu_button_popup(self->bookmarks_button);
  td_bookmark_list_write(self->bookmarks, position);
}

void
td_window_say(TdWindow *self, const char *text) {
  td_notice_say(&self->notice, text);
}

gboolean
td_window_is_settled(TdWindow *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (self->current || (self->live && td_live_tape_is_reading(self->live))) return FALSE;
  if (!document) return TRUE;
  if (td_playhead_is_travelling(self->playhead)) return FALSE;
  if (td_tape_view_is_busy(self->tape_view) || td_document_makes_lives(document)) return FALSE;
  uint64_t position = td_playhead_get_position(self->playhead);
  return td_document_get_graph_task(document) == td_document_graph_task_at(document, position);
}

TdPlayhead *
td_window_get_playhead(TdWindow *self) {
  return self->playhead;
}

TdTapeView *
td_window_get_tape_view(TdWindow *self) {
  return self->tape_view;
}

TdStartPage *
td_window_get_start_page(TdWindow *self) {
  return self->start_page;
}

void
td_window_show_preferences(TdWindow *self) {
  td_preferences_show(GTK_WINDOW(self), self->config);
}

/* The key of a size in a layout. */
static const char *
size_key(TdLayout layout, const char *size) {
  static char key[32];
  g_snprintf(key, sizeof key, "%s-%s", td_layout_name(layout), size);
  return key;
}

static void
remember_panes(TdConfig *config, TdPanes *panes) {
  td_config_set_int(config, "layout", (int)panes->layout);
  for (TdLayout layout = 0; layout < TD_N_LAYOUTS; layout++) {
    TdPaneSizes sizes = td_panes_get_sizes(panes, layout);
    td_config_set_int(config, size_key(layout, "side"), sizes.side);
    td_config_set_int(config, size_key(layout, "lower"), sizes.lower);
    td_config_set_int(config, size_key(layout, "queues"), sizes.queues);
  }
  for (TdPane pane = 0; pane < TD_N_PANES; pane++)
    td_config_set_int(config, td_pane_name(pane), gtk_widget_get_visible(panes->pane[pane]));
}

static void
recall_panes(TdConfig *config, TdTapeView *view) {
  TdPanes *panes = td_tape_view_get_panes(view);
  for (TdLayout layout = 0; layout < TD_N_LAYOUTS; layout++) {
    TdPaneSizes sizes = {.side = td_config_get_int(config, size_key(layout, "side"), 0),
                         .lower = td_config_get_int(config, size_key(layout, "lower"), 0),
                         .queues = td_config_get_int(config, size_key(layout, "queues"), 0)};
    td_panes_set_sizes(panes, layout, sizes);
  }
  int layout = td_config_get_int(config, "layout", TD_LAYOUT_DEBUG);
  td_tape_view_set_layout(view, (TdLayout)CLAMP(layout, 0, TD_N_LAYOUTS - 1));
  for (TdPane pane = 0; pane < TD_N_PANES; pane++)
    gtk_widget_set_visible(panes->pane[pane], td_config_get_int(config, td_pane_name(pane), TRUE));
}

static void
remember(TdWindow *self) {
  int width, height;
  gtk_window_get_default_size(GTK_WINDOW(self), &width, &height);
  td_config_set_int(self->config, "width", width);
  td_config_set_int(self->config, "height", height);
  td_config_set_int(self->config, "maximized", gtk_window_is_maximized(GTK_WINDOW(self)));
  remember_panes(self->config, td_tape_view_get_panes(self->tape_view));
  td_config_save(self->config);
}

/* The answer came: now it closes without another question. */
static void
leave_program(GtkWindow *window) {
  leave_live(TD_WINDOW(window));
  gtk_window_close(window);
}

static gboolean
td_window_close_request(GtkWindow *window) {
  TdWindow *self = TD_WINDOW(window);
  if (td_live_farewell_is_due(td_window_get_live(self))) {
    td_live_farewell_ask(window, td_window_get_live(self), leave_program);
    return TRUE;
  }
  remember(self);
  leave_live(self);
  if (self->current) g_cancellable_cancel(self->current);
  return GTK_WINDOW_CLASS(td_window_parent_class)->close_request(window);
}

static void
recall(TdWindow *self) {
  td_preferences_apply(self->config);
  td_playhead_set_speed(self->playhead,
                        td_preferences_speed(self->config, td_playhead_get_speed(self->playhead)));
  gtk_window_set_default_size(GTK_WINDOW(self), td_config_get_int(self->config, "width", 1280),
                              td_config_get_int(self->config, "height", 820));
  if (td_config_get_int(self->config, "maximized", 0)) gtk_window_maximize(GTK_WINDOW(self));
  recall_panes(self->config, self->tape_view);
}

static void
td_window_dispose(GObject *object) {
  TdWindow *self = TD_WINDOW(object);
  leave_live(self);
  if (self->current) g_cancellable_cancel(self->current);
  g_clear_object(&self->current);
  g_clear_object(&self->playhead);
  g_clear_object(&self->examples);
  td_notice_clear(&self->notice);
  g_clear_pointer(&self->config, td_config_free);
  g_clear_pointer(&self->remote, g_free);
  G_OBJECT_CLASS(td_window_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdWindow, child)

static void
td_window_class_init(TdWindowClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_window_dispose;
  GTK_WINDOW_CLASS(klass)->close_request = td_window_close_request;
  changed_signal = g_signal_new("changed", TD_TYPE_WINDOW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 0);
  g_resources_register(td_get_resource());
  g_type_ensure(TD_TYPE_BOOKMARK_LIST);
  g_type_ensure(TD_TYPE_NODE_SEARCH);
  g_type_ensure(TD_TYPE_LEVEL_BADGE);
  g_type_ensure(TD_TYPE_START_PAGE);
  g_type_ensure(TD_TYPE_TAPE_VIEW);
  gtk_widget_class_set_template_from_resource(widget_class, "/org/tapedeck/Tapedeck/ui/window.ui");
  BIND(toasts);
  BIND(title);
  BIND(open_button);
  BIND(examples_button);
  BIND(find_button);
  BIND(bookmarks_button);
  BIND(bookmarks);
  BIND(side_button);
  BIND(search);
  BIND(level_badge);
  BIND(pages);
  BIND(start_page);
  BIND(busy_page);
  BIND(error_page);
  BIND(spinner);
  BIND(progress);
  BIND(tape_view);
}

/* The arrow of a split button has a tooltip of its own, but no name for screen readers. */
static void
name_recent_button(TdWindow *self) {
  GtkWidget *child = gtk_widget_get_first_child(GTK_WIDGET(self->open_button));
  for (; child; child = gtk_widget_get_next_sibling(child))
    if (GTK_IS_MENU_BUTTON(child))
      gtk_accessible_update_property(GTK_ACCESSIBLE(child), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                     _("Recent tapes"), -1);
}

static void
add_target_actions(TdWindow *self) {
  const GActionEntry entries[] = {{"open-recent", recent_activated, "s"},
                                  {"example", example_activated, "s"},
                                  {"example-page", example_page_activated, "(ss)"},
                                  {"copy-text", copy_activated, "s"}};
  g_action_map_add_action_entries(G_ACTION_MAP(self), entries, G_N_ELEMENTS(entries), self);
}

static void
td_window_init(TdWindow *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  td_notice_init(&self->notice, self->toasts);
  self->config = td_config_load();
  self->playhead = td_playhead_new();
  self->examples = g_menu_new();
  gtk_menu_button_set_menu_model(self->examples_button, G_MENU_MODEL(self->examples));
  td_tape_view_set_playhead(self->tape_view, self->playhead);
  td_bookmark_list_set_bookmarks(self->bookmarks, td_tape_view_get_bookmarks(self->tape_view));
  td_node_search_set_playhead(self->search, self->playhead);
  td_level_badge_set_playhead(self->level_badge, self->playhead);
  g_signal_connect_object(self->playhead, "message", G_CALLBACK(td_window_say), self,
                          G_CONNECT_SWAPPED);
  add_target_actions(self);
  name_recent_button(self);
  recall(self);
  td_window_show_start(self);
  list_examples(self);
}

TdWindow *
td_window_new(AdwApplication *application) {
  return g_object_new(TD_TYPE_WINDOW, "application", application, NULL);
}
