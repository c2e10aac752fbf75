/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/stop_list.h"

#include "ui/model/base/error.h"
#include "ui/model/live/stop_file.h"
#include "ui/model/live/stop_work.h"

#include <glib/gi18n.h>

struct _TdStopList {
  GObject parent_instance;
  GListStore *stops;      /* (owned) of TdStop */
  TdPlayhead *playhead;   /* (owned) */
  TdLiveSession *session; /* (owned) or NULL */
  GStrv reported;         /* (owned) what the program stopped on at its last word */
  gboolean was_released;
  char *tape;             /* (owned) whose stops these are, or NULL */
  GArray *nodes;          /* (owned) of uint32_t: where the stops are in the document */
  GCancellable *counting; /* (owned) or NULL: nobody counts */
};

enum { SIGNAL_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static GType
get_item_type(GListModel *model) {
  return TD_TYPE_STOP;
}

static guint
get_n_items(GListModel *model) {
  return g_list_model_get_n_items(G_LIST_MODEL(TD_STOP_LIST(model)->stops));
}

static gpointer
get_item(GListModel *model, guint i) {
  return g_list_model_get_item(G_LIST_MODEL(TD_STOP_LIST(model)->stops), i);
}

static void
list_model_init(GListModelInterface *interface) {
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(TdStopList, td_stop_list, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, list_model_init))

static TdStop *
stop_at(TdStopList *self, guint i) {
  g_autoptr(TdStop) stop = g_list_model_get_item(G_LIST_MODEL(self->stops), i);
  return stop; /* the store keeps it */
}

GStrv
td_stop_list_dup_texts(TdStopList *self, gboolean all) {
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
  for (guint i = 0; i < get_n_items(G_LIST_MODEL(self)); i++)
    if (all || td_stop_get_enabled(stop_at(self, i)))
      g_strv_builder_add(texts, td_stop_get_text(stop_at(self, i)));
  return g_strv_builder_end(texts);
}

TdStop *
td_stop_list_find(TdStopList *self, const char *text) {
  for (guint i = 0; i < get_n_items(G_LIST_MODEL(self)); i++)
    if (strcmp(td_stop_get_text(stop_at(self, i)), text) == 0) return stop_at(self, i);
  return NULL;
}

gboolean
td_stop_list_is_on(TdStopList *self, const char *text) {
  TdStop *stop = td_stop_list_find(self, text);
  return stop && td_stop_get_enabled(stop);
}

/* ---- counting ---- */

static void
counted(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdStopList) self = data;
  g_autoptr(GArray) counts = td_stop_work_count_finish(result, NULL);
  if (g_task_get_cancellable(G_TASK(result)) != self->counting) return;
  g_clear_object(&self->counting);
  for (guint i = 0; counts && i < MIN(counts->len, get_n_items(G_LIST_MODEL(self))); i++)
    td_stop_set_hits(stop_at(self, i), (gint64)g_array_index(counts, uint64_t, i));
}

static void
stop_counting(TdStopList *self) {
  if (self->counting) g_cancellable_cancel(self->counting);
  g_clear_object(&self->counting);
}

/* The tape of a running program grows. */
static void
count(TdStopList *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  g_auto(GStrv) texts = td_stop_list_dup_texts(self, TRUE);
  stop_counting(self);
  if (!document || !texts[0] || td_document_is_growing(document)) return;
  self->counting = g_cancellable_new();
  td_stop_work_count_async(self->tape, (const char *const *)texts, self->counting, counted,
                           g_object_ref(self));
}

/* ---- the program ---- */

static void
tell_program(TdStopList *self, TdStop *stop, gboolean wanted) {
  if (!self->session || !td_condition_is_live(td_stop_get_condition(stop))) return;
  td_live_session_set_condition(self->session, td_stop_get_text(stop), wanted);
}

static void
tell_program_all(TdStopList *self) {
  for (guint i = 0; i < get_n_items(G_LIST_MODEL(self)); i++) {
    TdStop *stop = stop_at(self, i);
    if (td_stop_get_enabled(stop) &&
        !td_live_session_has_condition(self->session, td_stop_get_text(stop)))
      tell_program(self, stop, TRUE);
  }
}

const char *
td_stop_list_get_note(TdStopList *self, TdStop *stop) {
  TdLiveState state = self->session ? td_live_session_get_state(self->session) : TD_LIVE_ENDED;
  gboolean is_possible =
      state != TD_LIVE_WATCHED && td_condition_is_live(td_stop_get_condition(stop));
  if (state == TD_LIVE_ENDED || is_possible) return NULL;
  return _("On the tape only: the program cannot stop on it");
}

/* ---- nodes ---- */

static gboolean
stops_at(TdStopList *self, const td_catalog_node *node) {
  td_condition_moment moment =
      td_stop_moment_of_node(node->id, node->name, node->module, node->label);
  for (guint i = 0; i < get_n_items(G_LIST_MODEL(self)); i++)
    if (td_stop_get_enabled(stop_at(self, i)) &&
        td_condition_holds(td_stop_get_condition(stop_at(self, i)), &moment))
      return TRUE;
  return FALSE;
}

/* Rows of the catalog are in the order of the ids. */
static void
list_nodes(TdStopList *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  const td_catalog *catalog = document ? td_document_get_catalog(document) : NULL;
  g_array_set_size(self->nodes, 0);
  if (!catalog || !get_n_items(G_LIST_MODEL(self))) return;
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    if (stops_at(self, &catalog->node_rows[i]))
      g_array_append_val(self->nodes, catalog->node_rows[i].id);
}

const uint32_t *
td_stop_list_get_nodes(TdStopList *self, guint *n) {
  *n = self->nodes->len;
  return (const uint32_t *)(void *)self->nodes->data;
}

/* ---- changes ---- */

static void
changed(TdStopList *self) {
  list_nodes(self);
  g_signal_emit(self, signals[SIGNAL_CHANGED], 0);
}

static void
keep(TdStopList *self) {
  g_autoptr(GError) error = NULL;
  if (self->tape && !td_stop_file_write(self->tape, G_LIST_MODEL(self->stops), &error)) {
    g_autofree char *text = g_strdup_printf(_("The stops are not kept: %s"), error->message);
    td_playhead_say(self->playhead, text);
  }
  changed(self);
}

static void
enabled_changed(TdStop *stop, GParamSpec *spec, gpointer data) {
  TdStopList *self = data;
  tell_program(self, stop, td_stop_get_enabled(stop));
  keep(self);
}

static TdStop *
append(TdStopList *self, const char *text, GError **error) {
  if (get_n_items(G_LIST_MODEL(self)) >= TD_STOPS_MAX) {
    g_set_error(error, TD_ERROR, TD_INVALID, _("There can be %d stops at most"), TD_STOPS_MAX);
    return NULL;
  }
  g_autoptr(TdStop) stop = td_stop_new(text, error);
  if (!stop) return NULL;
  g_signal_connect_object(stop, "notify::enabled", G_CALLBACK(enabled_changed), self, 0);
  g_list_store_append(self->stops, stop);
  count(self);
  return stop; /* the store keeps it */
}

gboolean
td_stop_list_add(TdStopList *self, const char *text, GError **error) {
  TdStop *stop = td_stop_list_find(self, text);
  if (stop) {
    td_stop_set_enabled(stop, TRUE);
    return TRUE;
  }
  stop = append(self, text, error);
  if (!stop) return FALSE;
  tell_program(self, stop, TRUE);
  keep(self);
  return TRUE;
}

void
td_stop_list_remove(TdStopList *self, TdStop *stop) {
  guint at;
  if (!g_list_store_find(self->stops, stop, &at)) return;
  tell_program(self, stop, FALSE);
  g_signal_handlers_disconnect_by_data(stop, self);
  g_list_store_remove(self->stops, at);
  count(self);
  keep(self);
}

void
td_stop_list_set(TdStopList *self, const char *text, gboolean on) {
  TdStop *stop = td_stop_list_find(self, text);
  if (on)
    td_stop_list_add(self, text, NULL);
  else if (stop)
    td_stop_list_remove(self, stop);
}

/* What others want the program to stop on is in the list too. Its word may be older than ours: so
 * only what is new in it counts. */
static void
hear_program(TdStopList *self) {
  if (!self->tape) return; /* the list of which tape? */
  const char *const *now = td_live_session_get_conditions(self->session);
  gboolean is_released = td_live_session_get_state(self->session) == TD_LIVE_DETACHED;
  g_autoptr(GError) error = NULL;
  gboolean news = FALSE;
  for (guint i = 0; now[i]; i++) {
    gboolean is_new = !g_strv_contains((const char *const *)self->reported, now[i]);
    if (is_new && !td_stop_list_find(self, now[i]) && append(self, now[i], &error)) news = TRUE;
    if (error) td_playhead_say(self->playhead, error->message);
    g_clear_error(&error);
  }
  g_strfreev(self->reported);
  self->reported = g_strdupv((char **)now);
  if (self->was_released && !is_released) tell_program_all(self);
  self->was_released = is_released;
  if (news) keep(self);
}

/* A program that somebody let go hears of the stops when it is taken back. */
static void
meet_program(TdStopList *self) {
  if (td_live_session_get_state(self->session) != TD_LIVE_DETACHED) tell_program_all(self);
  g_strfreev(self->reported);
  self->reported = g_new0(char *, 1);
  hear_program(self);
}

void
td_stop_list_set_session(TdStopList *self, TdLiveSession *session) {
  if (self->session == session) return;
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_set_object(&self->session, session);
  self->was_released = FALSE;
  if (!session) return;
  g_signal_connect_swapped(session, "changed", G_CALLBACK(hear_program), self);
  if (self->tape) meet_program(self);
}

/* ---- the tape ---- */

static void
change_tape(TdStopList *self, const char *tape) {
  g_autoptr(GListStore) kept = g_list_store_new(TD_TYPE_STOP);
  g_free(self->tape);
  self->tape = g_strdup(tape);
  g_list_store_remove_all(self->stops);
  td_stop_file_read(tape, kept);
  for (guint i = 0; i < MIN(TD_STOPS_MAX, g_list_model_get_n_items(G_LIST_MODEL(kept))); i++) {
    g_autoptr(TdStop) stop = g_list_model_get_item(G_LIST_MODEL(kept), i);
    g_signal_connect_object(stop, "notify::enabled", G_CALLBACK(enabled_changed), self, 0);
    g_list_store_append(self->stops, stop);
  }
}

static void
document_changed(TdStopList *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document) {
    g_clear_pointer(&self->tape, g_free); /* its stops are none of the next program's */
    return;
  }
  const char *tape = td_document_get_path(document);
  gboolean is_new = g_strcmp0(tape, self->tape) != 0;
  if (is_new) change_tape(self, tape);
  if (is_new && self->session) meet_program(self);
  if (is_new || td_document_is_live(document)) count(self);
  changed(self);
}

static void
td_stop_list_dispose(GObject *object) {
  TdStopList *self = TD_STOP_LIST(object);
  stop_counting(self);
  td_stop_list_set_session(self, NULL);
  g_clear_pointer(&self->reported, g_strfreev);
  g_clear_pointer(&self->tape, g_free);
  g_clear_pointer(&self->nodes, g_array_unref);
  g_clear_object(&self->stops);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_stop_list_parent_class)->dispose(object);
}

static void
td_stop_list_class_init(TdStopListClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_stop_list_dispose;
  signals[SIGNAL_CHANGED] = g_signal_new("changed", TD_TYPE_STOP_LIST, G_SIGNAL_RUN_LAST, 0, NULL,
                                         NULL, NULL, G_TYPE_NONE, 0);
}

static void
items_changed(GListModel *stops, guint at, guint removed, guint added, gpointer data) {
  g_list_model_items_changed(data, at, removed, added);
}

static void
td_stop_list_init(TdStopList *self) {
  self->stops = g_list_store_new(TD_TYPE_STOP);
  self->nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  self->reported = g_new0(char *, 1);
  g_signal_connect_object(self->stops, "items-changed", G_CALLBACK(items_changed), self, 0);
}

TdStopList *
td_stop_list_new(TdPlayhead *playhead) {
  TdStopList *self = g_object_new(TD_TYPE_STOP_LIST, NULL);
  self->playhead = g_object_ref(playhead);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
  return self;
}
