/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/palette/palette_search.h"

#include "ui/model/document/document_texts.h"
#include "ui/model/events/node_query.h"
#include "ui/model/facts/node_words.h"

#include <glib/gi18n.h>

#define SLICE_US 4000

/* What is looked at, one after the other. */
typedef enum Phase { PHASE_READ, PHASE_PLACES, PHASE_SHOWN, PHASE_NODES, PHASE_EVENTS } Phase;

struct TdPaletteSearch {
  TdPlaces *places;   /* (borrowed) */
  TdNodeWords *words; /* (owned) */
  TdNodeQuery *query; /* (owned) */
  TdPaletteFound found;
  TdPaletteOver over;
  gpointer data;
  Phase phase;
  uint64_t next, first_seq; /* the next thing of the phase; where events begin */
  guint n_found[TD_PALETTE_EVENT + 1];
  uint32_t nodes[MOST_PALETTE_HITS]; /* that were found */
  guint slice;                       /* its source, or 0: over */
};

static void
tell(TdPaletteSearch *self, const TdPaletteHit *hit) {
  self->n_found[hit->kind]++;
  self->found(hit, self->data);
}

static gboolean
is_full(const TdPaletteSearch *self, TdPaletteKind kind) {
  return self->n_found[kind] >= MOST_PALETTE_HITS;
}

static void
look_at_place(TdPaletteSearch *self, guint i) {
  const TdPlace *place = td_places_get(self->places, i);
  TdPaletteKind kind = place->kind == TD_PLACE_MODULE ? TD_PALETTE_MODULE : TD_PALETTE_LINE;
  if (is_full(self, kind) || !td_node_words_are_in(self->words, place->text)) return;
  g_autofree char *text = g_strdup_printf(ngettext("%s · %u node", "%s · %u nodes", place->n_nodes),
                                          place->text, place->n_nodes);
  tell(self, &(TdPaletteHit){.kind = kind, .text = text, .place = place});
}

static gboolean
has_node(const TdPaletteSearch *self, uint32_t node) {
  for (guint i = 0; i < self->n_found[TD_PALETTE_NODE]; i++)
    if (self->nodes[i] == node) return TRUE;
  return FALSE;
}

static void
look_at_node(TdPaletteSearch *self, uint32_t node) {
  if (!td_node_query_matches(self->query, node) || has_node(self, node)) return;
  g_autofree char *text = td_node_query_describe(td_places_get_document(self->places), node);
  self->nodes[self->n_found[TD_PALETTE_NODE]] = node;
  tell(self, &(TdPaletteHit){.kind = TD_PALETTE_NODE, .text = text, .node = node});
}

static void
look_at_event(TdPaletteSearch *self, uint64_t seq) {
  TdDocument *document = td_places_get_document(self->places);
  td_any_event event;
  if (td_replay_event(td_document_get_replay(document), seq, &event, NULL) != TD_OK) return;
  g_autofree char *sentence = td_document_dup_event_text(document, seq);
  if (!td_node_words_are_in(self->words, sentence)) return;
  g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT " · %s", seq, sentence);
  tell(self, &(TdPaletteHit){.kind = TD_PALETTE_EVENT, .text = text, .seq = seq});
}

/* How much the phase has to look at. */
static uint64_t
size_of(TdPaletteSearch *self) {
  TdDocument *document = td_places_get_document(self->places);
  td_graph_scene *scene = td_document_get_scene(document);
  td_replay *replay = td_document_get_replay(document);
  switch (self->phase) {
  case PHASE_READ:
    return 0;
  case PHASE_PLACES:
    return td_places_n(self->places);
  case PHASE_SHOWN:
    return scene && !is_full(self, TD_PALETTE_NODE) ? td_graph_scene_n_nodes(scene) : 0;
  case PHASE_NODES:
    return is_full(self, TD_PALETTE_NODE) ? 0 : td_document_get_catalog(document)->n_nodes;
  case PHASE_EVENTS:
    return is_full(self, TD_PALETTE_EVENT) ? 0 : td_replay_end(replay) - td_replay_first(replay);
  }
  return 0;
}

static void
look_at(TdPaletteSearch *self, uint64_t i) {
  TdDocument *document = td_places_get_document(self->places);
  td_replay *replay = td_document_get_replay(document);
  uint64_t first = td_replay_first(replay), n = td_replay_end(replay) - first;
  switch (self->phase) {
  case PHASE_READ:
    break;
  case PHASE_PLACES:
    look_at_place(self, (guint)i);
    break;
  case PHASE_SHOWN:
    look_at_node(self, td_graph_scene_node(td_document_get_scene(document), (uint32_t)i));
    break;
  case PHASE_NODES:
    look_at_node(self, td_document_get_catalog(document)->node_rows[i].id);
    break;
  case PHASE_EVENTS:
    look_at_event(self, first + (self->first_seq - first + i) % n);
    break;
  }
}

static gboolean
search_slice(gpointer data) {
  TdPaletteSearch *self = data;
  gint64 until = g_get_monotonic_time() + SLICE_US;
  if (!td_places_read(self->places, until)) return G_SOURCE_CONTINUE;
  for (; self->phase <= PHASE_EVENTS; self->phase++, self->next = 0)
    while (self->next < size_of(self)) {
      look_at(self, self->next++);
      if (self->next % 16 == 0 && g_get_monotonic_time() > until) return G_SOURCE_CONTINUE;
    }
  self->slice = 0;
  self->over(self->data);
  return G_SOURCE_REMOVE;
}

TdPaletteSearch *
td_palette_search_new(TdPlaces *places, const char *typed, uint64_t seq, TdPaletteFound found,
                      TdPaletteOver over, gpointer data) {
  TdPaletteSearch *self = g_new0(TdPaletteSearch, 1);
  td_replay *replay = td_document_get_replay(td_places_get_document(places));
  self->places = places;
  self->words = td_node_words_new(typed);
  self->query = td_node_query_new(td_places_get_document(places), typed);
  self->first_seq = MAX(seq, td_replay_first(replay));
  self->found = found;
  self->over = over;
  self->data = data;
  if (!td_node_words_is_empty(self->words))
    self->slice = g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, search_slice, self, NULL);
  return self;
}

void
td_palette_search_free(TdPaletteSearch *self) {
  if (self->slice) g_source_remove(self->slice);
  td_node_query_free(self->query);
  td_node_words_free(self->words);
  g_free(self);
}

gboolean
td_palette_search_is_over(TdPaletteSearch *self) {
  return self->slice == 0;
}
