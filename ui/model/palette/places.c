/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/palette/places.h"

#include "ui/model/base/source_line.h"

#include <string.h>

#define NODES_AT_ONCE 256 /* between two looks at the clock */

struct TdPlaces {
  TdDocument *document; /* (owned) */
  uint32_t n_read;
  GHashTable *n_of_text; /* (owned) a text of the tape, by its address -> its nodes */
  GHashTable *by_name[TD_PLACE_LINE + 1]; /* (owned) text -> place (borrowed) */
  GPtrArray *texts[TD_PLACE_LINE + 1];    /* (owned) texts of the tape, in order, each once */
  GPtrArray *places;                      /* (owned) of TdPlace (owned) */
  GHashTable *line_of;                    /* (owned) a stack, by its address -> place (borrowed) */
  guint n_made[TD_PLACE_LINE + 1];        /* texts whose places are made */
};

static void
free_place(gpointer data) {
  TdPlace *place = data;
  g_free(place->text);
  g_free(place);
}

TdPlaces *
td_places_new(TdDocument *document) {
  TdPlaces *self = g_new0(TdPlaces, 1);
  self->document = g_object_ref(document);
  self->n_of_text = g_hash_table_new(NULL, NULL);
  self->line_of = g_hash_table_new(NULL, NULL);
  self->places = g_ptr_array_new_with_free_func(free_place);
  for (guint kind = 0; kind <= TD_PLACE_LINE; kind++) {
    self->by_name[kind] = g_hash_table_new(g_str_hash, g_str_equal);
    self->texts[kind] = g_ptr_array_new();
  }
  return self;
}

void
td_places_free(TdPlaces *self) {
  for (guint kind = 0; kind <= TD_PLACE_LINE; kind++) {
    g_hash_table_unref(self->by_name[kind]);
    g_ptr_array_unref(self->texts[kind]);
  }
  g_ptr_array_unref(self->places);
  g_hash_table_unref(self->line_of);
  g_hash_table_unref(self->n_of_text);
  g_object_unref(self->document);
  g_free(self);
}

TdDocument *
td_places_get_document(TdPlaces *self) {
  return self->document;
}

static const char *
text_of(const td_catalog_node *node, TdPlaceKind kind) {
  return kind == TD_PLACE_MODULE ? node->module : node->stack;
}

/* Texts of a tape are interned: the same one has the same address. */
static void
count(TdPlaces *self, const td_catalog_node *node, TdPlaceKind kind) {
  const char *text = text_of(node, kind);
  if (!text || !*text) return;
  guint n = GPOINTER_TO_UINT(g_hash_table_lookup(self->n_of_text, text));
  if (n == 0) g_ptr_array_add(self->texts[kind], (gpointer)text);
  g_hash_table_insert(self->n_of_text, (gpointer)text, GUINT_TO_POINTER(n + 1));
}

static TdPlace *
add_place(TdPlaces *self, TdPlaceKind kind, const char *text, guint n_nodes) {
  TdPlace *place = g_hash_table_lookup(self->by_name[kind], text);
  if (!place) {
    place = g_new(TdPlace, 1);
    *place = (TdPlace){.kind = kind, .text = g_strdup(text)};
    g_ptr_array_add(self->places, place);
    g_hash_table_insert(self->by_name[kind], place->text, place);
  }
  place->n_nodes += n_nodes;
  return place;
}

/* Of "a.b.c" also "a" and "a.b". */
static void
add_modules(TdPlaces *self, const char *path, guint n_nodes) {
  for (const char *dot = path; (dot = strchr(dot, '.')); dot++) {
    g_autofree char *around = g_strndup(path, (gsize)(dot - path));
    add_place(self, TD_PLACE_MODULE, around, n_nodes);
  }
  add_place(self, TD_PLACE_MODULE, path, n_nodes);
}

/* To read a stack takes some microseconds. */
static void
add_line(TdPlaces *self, const char *stack, guint n_nodes) {
  g_autofree char *line = td_source_line_dup_short(stack);
  if (!line) return;
  TdPlace *place = add_place(self, TD_PLACE_LINE, line, n_nodes);
  g_hash_table_insert(self->line_of, (gpointer)stack, place);
}

static gboolean
make_places(TdPlaces *self, TdPlaceKind kind, gint64 until_us) {
  for (guint *n = &self->n_made[kind]; *n < self->texts[kind]->len; ++*n) {
    if (g_get_monotonic_time() > until_us) return FALSE;
    const char *text = self->texts[kind]->pdata[*n];
    guint n_nodes = GPOINTER_TO_UINT(g_hash_table_lookup(self->n_of_text, text));
    if (kind == TD_PLACE_MODULE)
      add_modules(self, text, n_nodes);
    else
      add_line(self, text, n_nodes);
  }
  return TRUE;
}

gboolean
td_places_read(TdPlaces *self, gint64 until_us) {
  const td_catalog *catalog = td_document_get_catalog(self->document);
  while (self->n_read < catalog->n_nodes) {
    if (self->n_read % NODES_AT_ONCE == 0 && g_get_monotonic_time() > until_us) return FALSE;
    const td_catalog_node *node = &catalog->node_rows[self->n_read++];
    count(self, node, TD_PLACE_MODULE);
    count(self, node, TD_PLACE_LINE);
  }
  return make_places(self, TD_PLACE_MODULE, until_us) && make_places(self, TD_PLACE_LINE, until_us);
}

guint
td_places_n(TdPlaces *self) {
  return self->places->len;
}

const TdPlace *
td_places_get(TdPlaces *self, guint i) {
  return self->places->pdata[i];
}

static gboolean
is_of(TdPlaces *self, const TdPlace *place, const char *text) {
  if (place->kind == TD_PLACE_LINE) return g_hash_table_lookup(self->line_of, text) == place;
  size_t length = strlen(place->text);
  return strncmp(text, place->text, length) == 0 && (text[length] == '\0' || text[length] == '.');
}

GArray *
td_places_dup_nodes(TdPlaces *self, const TdPlace *place) {
  GArray *nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  const td_catalog *catalog = td_document_get_catalog(self->document);
  g_autoptr(GHashTable) texts = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < self->texts[place->kind]->len; i++)
    if (is_of(self, place, self->texts[place->kind]->pdata[i]))
      g_hash_table_add(texts, self->texts[place->kind]->pdata[i]);
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    const char *text = text_of(&catalog->node_rows[i], place->kind);
    if (text && g_hash_table_contains(texts, text))
      g_array_append_val(nodes, catalog->node_rows[i].id);
  }
  return nodes;
}
