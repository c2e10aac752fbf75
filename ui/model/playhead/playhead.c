/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/playhead.h"

#include "engine/base/bisect.h"

#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"
#include "ui/model/playhead/travel.h"

#include <glib/gi18n.h>

#define DEFAULT_SPEED td_speed_find(TD_SPEED_EVENTS, 30)
#define MIN_SPAN_NS 100
#define PASSES_SEEN 12 /* more of them at once are a blur */

struct _TdPlayhead {
  GObject parent_instance;
  TdDocument *document; /* (owned), NULL while none is open */
  TdTravel *travel;     /* (owned) */
  uint64_t position;
  uint32_t selection, edge; /* at most one of them is not TD_NONE */
  GArray *marks;            /* (owned) sorted nodes, or NULL */
  gboolean playing, follow;
  gboolean selects; /* at the end of the travel */
  uint32_t wanted;  /* the node that it selects then, or TD_NONE: that of the event */
  guint speed;
  double from_ns, to_ns;
  gboolean span_untouched; /* as it was chosen for the document */
  int64_t tick_us;         /* of the last tick while playing, 0 before the first */
  TdSpeedCarry carry;      /* to the next tick */
};

enum {
  PROP_DOCUMENT = 1,
  PROP_POSITION,
  PROP_SELECTION,
  PROP_PLAYING,
  PROP_SPEED,
  PROP_FOLLOW,
  PROP_TRAVELLING,
  N_PROPS
};
static GParamSpec *props[N_PROPS];

enum { SIGNAL_SPAN_CHANGED, SIGNAL_MESSAGE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TdPlayhead, td_playhead, G_TYPE_OBJECT)

static void
notify(TdPlayhead *self, guint prop) {
  g_object_notify_by_pspec(G_OBJECT(self), props[prop]);
}

void
td_playhead_say(TdPlayhead *self, const char *text) {
  g_signal_emit(self, signals[SIGNAL_MESSAGE], 0, text);
}

static td_replay *
get_replay(TdPlayhead *self) {
  return self->document ? td_document_get_replay(self->document) : NULL;
}

void
td_playhead_select_current(TdPlayhead *self) {
  if (!self->follow || !self->document) return;
  uint32_t node = td_document_get_state(self->document)->header->current_node;
  bool elsewhere =
      td_document_process_of(self->document, node) != td_document_get_process(self->document);
  if (node != TD_NONE && !elsewhere) td_playhead_set_selection(self, node);
}

static void
td_playhead_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  TdPlayhead *self = TD_PLAYHEAD(object);
  switch (id) {
  case PROP_DOCUMENT:
    g_value_set_object(value, self->document);
    break;
  case PROP_POSITION:
    g_value_set_uint64(value, self->position);
    break;
  case PROP_SELECTION:
    g_value_set_uint(value, self->selection);
    break;
  case PROP_PLAYING:
    g_value_set_boolean(value, self->playing);
    break;
  case PROP_SPEED:
    g_value_set_uint(value, self->speed);
    break;
  case PROP_FOLLOW:
    g_value_set_boolean(value, self->follow);
    break;
  case PROP_TRAVELLING:
    g_value_set_boolean(value, td_playhead_is_travelling(self));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void
td_playhead_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  TdPlayhead *self = TD_PLAYHEAD(object);
  switch (id) {
  case PROP_DOCUMENT:
    td_playhead_set_document(self, g_value_get_object(value));
    break;
  case PROP_POSITION:
    td_playhead_set_position(self, g_value_get_uint64(value));
    break;
  case PROP_SELECTION:
    td_playhead_set_selection(self, g_value_get_uint(value));
    break;
  case PROP_PLAYING:
    td_playhead_set_playing(self, g_value_get_boolean(value));
    break;
  case PROP_SPEED:
    td_playhead_set_speed(self, g_value_get_uint(value));
    break;
  case PROP_FOLLOW:
    td_playhead_set_follow(self, g_value_get_boolean(value));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

/* The worker may go on for a while, and keeps the travel. */
static void
td_playhead_finalize(GObject *object) {
  TdPlayhead *self = TD_PLAYHEAD(object);
  g_signal_handlers_disconnect_by_data(self->travel, self);
  td_travel_stop(self->travel);
  g_clear_object(&self->travel);
  g_clear_object(&self->document);
  g_clear_pointer(&self->marks, g_array_unref);
  G_OBJECT_CLASS(td_playhead_parent_class)->finalize(object);
}

static void
td_playhead_class_init(TdPlayheadClass *klass) {
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  object_class->finalize = td_playhead_finalize;
  object_class->get_property = td_playhead_get_property;
  object_class->set_property = td_playhead_set_property;
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  props[PROP_DOCUMENT] = g_param_spec_object("document", NULL, NULL, TD_TYPE_DOCUMENT, flags);
  props[PROP_POSITION] = g_param_spec_uint64("position", NULL, NULL, 0, G_MAXUINT64, 0, flags);
  props[PROP_SELECTION] = g_param_spec_uint("selection", NULL, NULL, 0, G_MAXUINT, TD_NONE, flags);
  props[PROP_PLAYING] = g_param_spec_boolean("playing", NULL, NULL, FALSE, flags);
  props[PROP_SPEED] =
      g_param_spec_uint("speed", NULL, NULL, 0, td_speed_count() - 1, DEFAULT_SPEED, flags);
  props[PROP_FOLLOW] = g_param_spec_boolean("follow", NULL, NULL, TRUE, flags);
  props[PROP_TRAVELLING] =
      g_param_spec_boolean("travelling", NULL, NULL, FALSE,
                           G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_properties(object_class, N_PROPS, props);
  signals[SIGNAL_SPAN_CHANGED] = g_signal_new("span-changed", TD_TYPE_PLAYHEAD, G_SIGNAL_RUN_LAST,
                                              0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SIGNAL_MESSAGE] = g_signal_new("message", TD_TYPE_PLAYHEAD, G_SIGNAL_RUN_LAST, 0, NULL,
                                         NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void arrived(TdPlayhead *self, TdDocument *document);
static void travel_failed(TdPlayhead *self, const char *why);

static void
td_playhead_init(TdPlayhead *self) {
  self->travel = td_travel_new();
  g_signal_connect_swapped(self->travel, "arrived", G_CALLBACK(arrived), self);
  g_signal_connect_swapped(self->travel, "failed", G_CALLBACK(travel_failed), self);
  self->selection = self->edge = TD_NONE;
  g_clear_pointer(&self->marks, g_array_unref);
  self->follow = TRUE;
  self->speed = DEFAULT_SPEED;
}

TdPlayhead *
td_playhead_new(void) {
  return g_object_new(TD_TYPE_PLAYHEAD, NULL);
}

static void
show_all_passes(TdPlayhead *self) {
  double from, to;
  td_pass_span_of_all(get_replay(self), &from, &to);
  td_playhead_set_span(self, from, to);
}

static void
stop_travel(TdPlayhead *self) {
  if (!td_playhead_is_travelling(self)) return;
  td_travel_stop(self->travel);
  self->selects = FALSE;
  notify(self, PROP_TRAVELLING);
}

static void
choose_span(TdPlayhead *self) {
  if (td_document_get_catalog(self->document)->n_graph_tasks > PASSES_SEEN)
    td_playhead_show_pass(self);
  else
    show_all_passes(self);
  self->span_untouched = TRUE;
}

static void
take_document(TdPlayhead *self, TdDocument *document) {
  if (!g_set_object(&self->document, document)) return;
  self->selection = self->edge = TD_NONE;
  g_clear_pointer(&self->marks, g_array_unref);
  self->position = document ? td_replay_position(td_document_get_replay(document)) : 0;
  self->from_ns = self->to_ns = 0;
  notify(self, PROP_DOCUMENT);
  if (!document) return;
  choose_span(self);
  notify(self, PROP_SELECTION);
  notify(self, PROP_POSITION);
}

void
td_playhead_set_document(TdPlayhead *self, TdDocument *document) {
  td_playhead_set_playing(self, FALSE);
  stop_travel(self);
  take_document(self, document);
}

void
td_playhead_update_document(TdPlayhead *self, TdDocument *document) {
  gboolean at_end = td_playhead_is_at_end(self);
  uint64_t position = at_end ? G_MAXUINT64 : self->position;
  uint32_t selection = self->selection;
  double from = self->from_ns, to = self->to_ns;
  gboolean untouched = self->span_untouched;
  td_playhead_set_document(self, document);
  if (!untouched) td_playhead_set_span(self, from, to);
  td_playhead_set_selection(self, selection);
  td_playhead_set_position(self, position);
  if (at_end) td_playhead_select_current(self);
}

/* Whoever sees all of a segment sees all of the next; any other span keeps its length. */
static void
keep_span(TdPlayhead *self, double from_ns, double to_ns, gboolean is_all) {
  if (is_all)
    td_playhead_reset_span(self);
  else
    td_playhead_set_span(self, from_ns, to_ns);
}

static gboolean
shows_all(TdPlayhead *self) {
  double first, last;
  td_document_get_extent(self->document, &first, &last);
  return self->from_ns <= first && self->to_ns >= last;
}

static void
arrived(TdPlayhead *self, TdDocument *document) {
  double from = self->from_ns, to = self->to_ns;
  gboolean is_all = shows_all(self), untouched = self->span_untouched, selects = self->selects;
  uint32_t selection = self->selection;
  self->selects = FALSE;
  take_document(self, document);
  keep_span(self, from, to, is_all);
  self->span_untouched = untouched;
  td_playhead_set_selection(self, selection);
  td_playhead_select_current(self);
  notify(self, PROP_TRAVELLING);
  if (selects && self->wanted != TD_NONE)
    td_playhead_set_selection(self, self->wanted);
  else if (selects)
    td_playhead_select_reached(self);
}

static void
travel_failed(TdPlayhead *self, const char *why) {
  self->selects = FALSE;
  td_playhead_set_playing(self, FALSE);
  td_document_set_refusal(self->document, td_travel_get_refused(self->travel), why);
  notify(self, PROP_TRAVELLING);
  td_playhead_say(self, _("That segment of the tape cannot be shown"));
}

static void
set_out(TdPlayhead *self, TdGoal goal) {
  self->selects = FALSE;
  td_travel_go(self->travel, self->document, goal);
  notify(self, PROP_TRAVELLING);
}

void
td_playhead_travel_to_node(TdPlayhead *self, int direction) {
  set_out(self, (TdGoal){td_playhead_get_target(self), direction});
}

gboolean
td_playhead_is_travelling(TdPlayhead *self) {
  return td_travel_get_goal(self->travel) != NULL;
}

uint64_t
td_playhead_get_target(TdPlayhead *self) {
  const TdGoal *goal = td_travel_get_goal(self->travel);
  return goal ? goal->position : self->position;
}

void
td_playhead_select_reached(TdPlayhead *self) {
  self->selects = td_playhead_is_travelling(self);
  self->wanted = TD_NONE;
  if (!self->document || self->selects) return;
  td_playhead_set_selection(self, td_document_get_state(self->document)->header->current_node);
}

void
td_playhead_show_node(TdPlayhead *self, uint64_t position, uint32_t node) {
  td_playhead_set_position(self, position);
  self->selects = td_playhead_is_travelling(self);
  self->wanted = node;
  if (!self->selects) td_playhead_set_selection(self, node);
}

TdDocument *
td_playhead_get_document(TdPlayhead *self) {
  return self->document;
}

/* The replay has moved (or failed to); tell everybody. */
static void
moved(TdPlayhead *self, td_error *error) {
  if (error->status != TD_OK) {
    td_playhead_say(self, td_error_text(error));
    td_error_clear(error);
  }
  uint64_t position = td_replay_position(get_replay(self));
  if (position == self->position) return;
  self->position = position;
  td_document_show_graph_task(self->document, td_document_graph_task_at(self->document, position));
  td_playhead_select_current(self);
  notify(self, PROP_POSITION);
}

void
td_playhead_set_position(TdPlayhead *self, uint64_t position) {
  td_replay *replay = get_replay(self);
  if (!replay) return;
  position = MIN(position, td_playhead_get_length(self));
  if (!td_document_covers(self->document, position)) {
    set_out(self, (TdGoal){position, 0});
    return;
  }
  stop_travel(self);
  td_error error = {0};
  error.status = td_replay_seek(replay, position, &error);
  moved(self, &error);
}

void
td_playhead_step_event(TdPlayhead *self, int direction) {
  td_replay *replay = get_replay(self);
  if (!replay) return;
  uint64_t here = td_playhead_get_target(self);
  uint64_t next = direction > 0 ? here + 1 : here - 1;
  if (direction > 0 ? here >= td_playhead_get_length(self) : here == 0) return;
  if (td_playhead_is_travelling(self) || !td_document_covers(self->document, next)) {
    td_playhead_set_position(self, next);
    return;
  }
  td_error error = {0};
  error.status = direction > 0 ? td_replay_forward(replay, &error) : td_replay_back(replay, &error);
  moved(self, &error);
}

uint64_t
td_playhead_get_position(TdPlayhead *self) {
  return self->position;
}

gboolean
td_playhead_is_at_end(TdPlayhead *self) {
  return self->position >= td_playhead_get_length(self);
}

uint64_t
td_playhead_get_length(TdPlayhead *self) {
  return self->document ? td_document_get_length(self->document) : 0;
}

uint64_t
td_playhead_get_time_ns(TdPlayhead *self) {
  return self->document ? td_document_get_state(self->document)->header->time_ns : 0;
}

void
td_playhead_seek_time(TdPlayhead *self, double ns) {
  td_replay *replay = get_replay(self);
  if (!replay || td_replay_end(replay) == 0) return;
  uint64_t seq = td_tape_seq_at(td_replay_tape(replay), (uint64_t)MAX(ns, 0));
  td_playhead_set_position(self,
                           CLAMP(seq, td_replay_first(replay), td_replay_end(replay) - 1) + 1);
}

static gboolean
has_mark(TdPlayhead *self, uint32_t node) {
  guint n, at;
  const uint32_t *marks = td_playhead_get_marks(self, &n);
  TD_BISECT(at, 0, n, marks[at] < node);
  return at < n && marks[at] == node;
}

static gint
compare_nodes(gconstpointer a, gconstpointer b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

void
td_playhead_set_marks(TdPlayhead *self, GArray *nodes) {
  if (!nodes && !self->marks) return;
  g_clear_pointer(&self->marks, g_array_unref);
  self->marks = nodes;
  if (nodes) g_array_sort(nodes, compare_nodes);
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_SELECTION]);
}

const uint32_t *
td_playhead_get_marks(TdPlayhead *self, guint *n) {
  *n = self->marks ? self->marks->len : 0;
  return self->marks ? (const uint32_t *)(void *)self->marks->data : NULL;
}

void
td_playhead_set_selection(TdPlayhead *self, uint32_t node) {
  if (self->document && !td_catalog_has_node(td_document_get_catalog(self->document), node))
    node = TD_NONE;
  if (node == self->selection && self->edge == TD_NONE) return;
  if (!has_mark(self, node)) g_clear_pointer(&self->marks, g_array_unref);
  self->selection = node;
  self->edge = TD_NONE;
  if (self->document && node != TD_NONE)
    td_document_set_process(self->document, td_document_process_of(self->document, node));
  notify(self, PROP_SELECTION);
}

uint32_t
td_playhead_get_selection(TdPlayhead *self) {
  return self->selection;
}

void
td_playhead_set_edge(TdPlayhead *self, uint32_t edge) {
  if (!self->document || edge >= td_document_get_catalog(self->document)->n_edges) edge = TD_NONE;
  if (edge == self->edge) return;
  g_clear_pointer(&self->marks, g_array_unref);
  self->selection = TD_NONE;
  self->edge = edge;
  notify(self, PROP_SELECTION);
}

uint32_t
td_playhead_get_edge(TdPlayhead *self) {
  return self->edge;
}

void
td_playhead_set_playing(TdPlayhead *self, gboolean playing) {
  if (playing && !self->document) return;
  if (playing && td_playhead_is_at_end(self)) td_playhead_set_position(self, 0);
  self->tick_us = 0;
  self->carry = (TdSpeedCarry){0};
  if (playing == self->playing) return;
  self->playing = playing;
  notify(self, PROP_PLAYING);
}

gboolean
td_playhead_get_playing(TdPlayhead *self) {
  return self->playing;
}

void
td_playhead_set_speed(TdPlayhead *self, guint speed) {
  if (speed == self->speed) return;
  self->speed = speed;
  self->carry = (TdSpeedCarry){0};
  notify(self, PROP_SPEED);
}

guint
td_playhead_get_speed(TdPlayhead *self) {
  return self->speed;
}

void
td_playhead_set_follow(TdPlayhead *self, gboolean follow) {
  if (follow == self->follow) return;
  self->follow = follow;
  notify(self, PROP_FOLLOW);
  if (self->document) td_playhead_select_current(self);
}

void
td_playhead_set_span(TdPlayhead *self, double from_ns, double to_ns) {
  double first, last;
  if (!self->document) return;
  td_document_get_extent(self->document, &first, &last);
  last = MAX(last, first + MIN_SPAN_NS);
  double length = CLAMP(to_ns - from_ns, MIN_SPAN_NS, last - first);
  self->from_ns = CLAMP(from_ns, first, last - length);
  self->to_ns = self->from_ns + length;
  self->span_untouched = FALSE;
  g_signal_emit(self, signals[SIGNAL_SPAN_CHANGED], 0);
}

void
td_playhead_get_span(TdPlayhead *self, double *from_ns, double *to_ns) {
  *from_ns = self->from_ns;
  *to_ns = self->to_ns;
}

void
td_playhead_reset_span(TdPlayhead *self) {
  td_playhead_set_span(self, 0, G_MAXDOUBLE);
}

void
td_playhead_show_pass(TdPlayhead *self) {
  double from, to;
  if (!self->document) return;
  uint32_t graph_task = td_document_graph_task_at(self->document, self->position);
  if (graph_task == TD_NONE) return;
  td_pass_span(get_replay(self), graph_task, &from, &to);
  td_playhead_set_span(self, from, to);
}

void
td_playhead_tick(TdPlayhead *self, int64_t frame_us) {
  if (!self->playing) return;
  if (td_playhead_is_travelling(self)) {
    self->tick_us = 0;
    return;
  }
  double seconds = self->tick_us ? (double)(frame_us - self->tick_us) * 1e-6 : 0;
  self->tick_us = frame_us;
  uint64_t position =
      td_speed_advance(self->speed, self->document, self->position, seconds, &self->carry);
  if (position == self->position) return;
  td_playhead_set_position(self, position);
  if (self->position >= td_playhead_get_length(self)) td_playhead_set_playing(self, FALSE);
}
