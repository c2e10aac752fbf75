/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/visits.h"

#define REST_MS 400
/* A fiftieth of the tape is near, within these numbers of events. */
#define NEAR_SHARE 50
#define NEAR_LEAST 2
#define NEAR_MOST 50
#define MOST_PLACES 200

typedef struct Place {
  uint64_t position;
  uint32_t selection;
} Place;

struct _TdVisits {
  GObject parent_instance;
  TdPlayhead *playhead; /* (owned) */
  GArray *places;       /* (owned) of Place */
  guint at;             /* the place where the playhead is; places->len: none yet */
  guint rest;           /* id of the timeout, or 0 */
  char *path;           /* (owned) of the tape */
};

G_DEFINE_FINAL_TYPE(TdVisits, td_visits, G_TYPE_OBJECT)

static Place
place_now(TdVisits *self) {
  return (Place){td_playhead_get_position(self->playhead),
                 td_playhead_get_selection(self->playhead)};
}

/* Steps go on at a place. Another selection at the same event is another place. */
static gboolean
is_same(TdVisits *self, const Place *a, const Place *b) {
  uint64_t near = td_playhead_get_length(self->playhead) / NEAR_SHARE;
  uint64_t apart = MAX(a->position, b->position) - MIN(a->position, b->position);
  return apart ? apart <= CLAMP(near, NEAR_LEAST, NEAR_MOST) : a->selection == b->selection;
}

static void
append(TdVisits *self, Place now) {
  if (self->at < self->places->len) g_array_set_size(self->places, self->at + 1);
  if (self->places->len == MOST_PLACES) g_array_remove_index(self->places, 0);
  g_array_append_val(self->places, now);
  self->at = self->places->len - 1;
}

static void
note(TdVisits *self) {
  g_clear_handle_id(&self->rest, g_source_remove);
  if (!td_playhead_get_document(self->playhead)) return;
  Place now = place_now(self);
  Place *last = self->at < self->places->len ? &g_array_index(self->places, Place, self->at) : NULL;
  if (last && is_same(self, last, &now))
    *last = now;
  else
    append(self, now);
}

void
td_visits_keep(TdVisits *self) {
  g_clear_handle_id(&self->rest, g_source_remove);
  if (!td_playhead_get_document(self->playhead)) return;
  Place now = place_now(self);
  const Place *last =
      self->at < self->places->len ? &g_array_index(self->places, Place, self->at) : NULL;
  if (!last || last->position != now.position || last->selection != now.selection)
    append(self, now);
}

static gboolean
rest_cb(gpointer data) {
  TdVisits *self = data;
  if (td_playhead_get_playing(self->playhead) || td_playhead_is_travelling(self->playhead))
    return G_SOURCE_CONTINUE;
  self->rest = 0;
  note(self);
  return G_SOURCE_REMOVE;
}

static void
moved(TdVisits *self) {
  g_clear_handle_id(&self->rest, g_source_remove);
  self->rest = g_timeout_add(REST_MS, rest_cb, self);
}

/* Segments of one tape are documents too. */
static void
document_changed(TdVisits *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  const char *path = document ? td_document_get_path(document) : NULL;
  if (g_strcmp0(path, self->path) != 0) {
    g_array_set_size(self->places, 0);
    self->at = 0;
    g_free(self->path);
    self->path = g_strdup(path);
  }
  moved(self);
}

gboolean
td_visits_go(TdVisits *self, int direction) {
  if (self->rest) note(self);
  if (direction < 0 ? self->at == 0 : self->at + 1 >= self->places->len) return FALSE;
  self->at = direction < 0 ? self->at - 1 : self->at + 1;
  Place place = g_array_index(self->places, Place, self->at);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_show_node(self->playhead, place.position, place.selection);
  return TRUE;
}

TdVisits *
td_visits_new(TdPlayhead *playhead) {
  TdVisits *self = g_object_new(TD_TYPE_VISITS, NULL);
  self->playhead = g_object_ref(playhead);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(moved), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(moved), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
  return self;
}

static void
td_visits_finalize(GObject *object) {
  TdVisits *self = TD_VISITS(object);
  g_clear_handle_id(&self->rest, g_source_remove);
  g_clear_object(&self->playhead);
  g_array_unref(self->places);
  g_free(self->path);
  G_OBJECT_CLASS(td_visits_parent_class)->finalize(object);
}

static void
td_visits_class_init(TdVisitsClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_visits_finalize;
}

static void
td_visits_init(TdVisits *self) {
  self->places = g_array_new(FALSE, FALSE, sizeof(Place));
}
