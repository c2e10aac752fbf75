/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/travel.h"

#include "ui/model/document/document_segment.h"

struct _TdTravel {
  GObject parent_instance;
  TdDocument *from; /* (owned), NULL: no goal */
  TdGoal goal;
  GCancellable *loading; /* (owned): of the worker, also if it works in vain. NULL: none works */
  TdSegment loaded;      /* that it loads */
  uint64_t refused;      /* the position that could not be shown */
};

G_DEFINE_FINAL_TYPE(TdTravel, td_travel, G_TYPE_OBJECT)

enum { SIGNAL_ARRIVED, SIGNAL_FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void set_out(TdTravel *self);

/* What a worker looks for. */
typedef struct Search {
  TdGoal goal;
  GCancellable *cancellable; /* (owned) */
} Search;

static void
search_free(gpointer data) {
  g_object_unref(((Search *)data)->cancellable);
  g_free(data);
}

static bool
is_node_begin(td_tape *tape, uint64_t seq) {
  const td_any_event *event = td_tape_peek(tape, seq);
  return event && event->event.kind == TD_EVENT_node_begin;
}

/* In the worker. */
static gboolean
find_goal(td_tape *tape, const td_catalog *whole, gpointer data, uint64_t *position) {
  const Search *search = data;
  uint64_t at = search->goal.position, length = td_tape_info_get(tape)->n_events;
  *position = MIN(at, length);
  if (search->goal.node_step > 0) {
    while (at < length && !is_node_begin(tape, at) &&
           !g_cancellable_is_cancelled(search->cancellable))
      at++;
    *position = MIN(at + 1, length);
  }
  if (search->goal.node_step < 0) {
    for (at = at ? at - 1 : 0; at > 0 && !is_node_begin(tape, at - 1);)
      at = g_cancellable_is_cancelled(search->cancellable) ? 0 : at - 1;
    *position = at;
  }
  return TRUE;
}

static void
fail(TdTravel *self, TdDocument *document, const char *why) {
  self->refused = self->goal.position;
  td_document_get_refusal(document, &self->refused);
  td_travel_stop(self);
  g_signal_emit(self, signals[SIGNAL_FAILED], 0, why);
}

/* The goal may have moved inside the segment that was loaded. */
static td_status
move_to_goal(TdTravel *self, TdDocument *document, td_error *error) {
  td_replay *replay = td_document_get_replay(document);
  return self->goal.node_step ? TD_OK : td_replay_seek(replay, self->goal.position, error);
}

static void
arrive(TdTravel *self, TdDocument *document) {
  td_error error = {0};
  if (move_to_goal(self, document, &error) != TD_OK) {
    fail(self, document, td_error_text(&error));
    td_error_clear(&error);
    return;
  }
  td_travel_stop(self);
  g_signal_emit(self, signals[SIGNAL_ARRIVED], 0, document);
  uint64_t position = td_replay_position(td_document_get_replay(document));
  td_document_show_graph_task(document, td_document_graph_task_at(document, position));
}

static void
loaded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdTravel) self = data;
  g_autoptr(GError) error = NULL;
  gboolean fine = td_document_load_finish(TD_DOCUMENT(source), result, &error);
  gboolean in_vain = g_cancellable_is_cancelled(self->loading);
  g_clear_object(&self->loading);
  if (!self->from) return;
  if (in_vain)
    set_out(self);
  else if (fine)
    arrive(self, TD_DOCUMENT(source));
  else
    fail(self, TD_DOCUMENT(source), error->message);
}

static void
set_out(TdTravel *self) {
  g_autoptr(TdDocument) document = td_document_new_segment(self->from, self->goal.position);
  Search *search = g_new0(Search, 1);
  self->loading = g_cancellable_new();
  self->loaded = td_document_segment_at(self->from, self->goal.position);
  *search = (Search){self->goal, g_object_ref(self->loading)};
  td_document_set_start(document, find_goal, search);
  g_object_set_data_full(G_OBJECT(document), "td-search", search, search_free);
  td_document_load_async(document, self->loading, loaded, g_object_ref(self));
}

/* A worker that loads the right segment goes on: whoever shows it can move in it. */
static gboolean
is_on_the_way(TdTravel *self, TdDocument *from, TdGoal goal) {
  TdSegment wanted = td_document_segment_at(from, goal.position);
  return self->from && !goal.node_step && !self->goal.node_step &&
         !g_cancellable_is_cancelled(self->loading) && wanted.number == self->loaded.number;
}

void
td_travel_go(TdTravel *self, TdDocument *from, TdGoal goal) {
  gboolean on_the_way = self->loading && is_on_the_way(self, from, goal);
  g_set_object(&self->from, from);
  self->goal = goal;
  if (on_the_way) return;
  if (self->loading)
    g_cancellable_cancel(self->loading);
  else
    set_out(self);
}

void
td_travel_stop(TdTravel *self) {
  g_clear_object(&self->from);
  if (self->loading) g_cancellable_cancel(self->loading);
}

uint64_t
td_travel_get_refused(TdTravel *self) {
  return self->refused;
}

const TdGoal *
td_travel_get_goal(TdTravel *self) {
  return self->from ? &self->goal : NULL;
}

static void
td_travel_finalize(GObject *object) {
  TdTravel *self = TD_TRAVEL(object);
  g_clear_object(&self->from);
  g_clear_object(&self->loading);
  G_OBJECT_CLASS(td_travel_parent_class)->finalize(object);
}

static guint
new_signal(const char *name, GType parameter) {
  return g_signal_new(name, TD_TYPE_TRAVEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                      parameter);
}

static void
td_travel_class_init(TdTravelClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_travel_finalize;
  signals[SIGNAL_ARRIVED] = new_signal("arrived", TD_TYPE_DOCUMENT);
  signals[SIGNAL_FAILED] = new_signal("failed", G_TYPE_STRING);
}

static void
td_travel_init(TdTravel *self) {
}

TdTravel *
td_travel_new(void) {
  return g_object_new(TD_TYPE_TRAVEL, NULL);
}
