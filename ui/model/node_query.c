/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/node_query.h"

#include "ui/model/node_state_text.h"

#include <string.h>

#define MOST_WORDS 8

struct TdNodeQuery {
  TdDocument *document; /* (borrowed) */
  GStrv words;          /* (owned) folded */
  guint n_words;
  uint32_t may_be_numbers; /* bits of words */
  GHashTable *known;       /* (owned) text -> which words are in it, as bits, plus one */
  uint32_t in_state[TD_N_NODE_STATES]; /* bits likewise */
};

/* Which words a text holds. */
static uint32_t
find_words(TdNodeQuery *self, const char *text) {
  uint32_t found = 0;
  g_autofree char *folded = g_utf8_casefold(text, -1);
  for (guint i = 0; i < self->n_words; i++)
    if (strstr(folded, self->words[i])) found |= 1u << i;
  return found;
}

/* Texts of a tape are interned: the same one has the same address. */
static uint32_t
find_in_text(TdNodeQuery *self, const char *text) {
  if (!text || !*text) return 0;
  gpointer known = g_hash_table_lookup(self->known, text);
  if (!known) {
    known = GUINT_TO_POINTER(find_words(self, text) + 1);
    g_hash_table_insert(self->known, (gpointer)text, known);
  }
  return GPOINTER_TO_UINT(known) - 1;
}

/* A number in decimals, at the end of a buffer of its own: quicker than printf, and millions of
 * them are looked at. */
static const char *
write_digits(uint32_t number, char digits[16]) {
  char *at = digits + 15;
  *at = '\0';
  do
    *--at = (char)('0' + number % 10);
  while (number /= 10);
  return at;
}

/* "#12" is node 12 and no other; digits alone may be any part of a number. */
static uint32_t
find_in_number(TdNodeQuery *self, uint32_t node) {
  char buffer[16];
  const char *digits = write_digits(node, buffer);
  uint32_t found = 0;
  for (guint i = 0; i < self->n_words; i++) {
    const char *word = self->words[i];
    bool exact = *word == '#';
    if (exact ? strcmp(digits, word + 1) == 0 : strstr(digits, word) != NULL) found |= 1u << i;
  }
  return found;
}

TdNodeQuery *
td_node_query_new(TdDocument *document, const char *typed) {
  TdNodeQuery *self = g_new0(TdNodeQuery, 1);
  g_autofree char *folded = g_utf8_casefold(typed, -1);
  g_auto(GStrv) parts = g_strsplit_set(folded, " \t", -1);
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  for (guint i = 0; parts[i] && self->n_words < MOST_WORDS; i++) {
    if (!*parts[i] || !strcmp(parts[i], "·")) continue; /* of "Linear · layers.0" on a card */
    g_strv_builder_add(words, parts[i]);
    bool number = *parts[i] == '#' || strspn(parts[i], "0123456789") == strlen(parts[i]);
    self->may_be_numbers |= (uint32_t)number << self->n_words++;
  }
  self->document = document;
  self->words = g_strv_builder_end(words);
  self->known = g_hash_table_new(NULL, NULL);
  for (guint state = 0; state < TD_N_NODE_STATES; state++)
    self->in_state[state] = find_words(self, td_node_state_text((td_node_state)state));
  return self;
}

void
td_node_query_free(TdNodeQuery *self) {
  g_hash_table_unref(self->known);
  g_strfreev(self->words);
  g_free(self);
}

gboolean
td_node_query_matches(TdNodeQuery *self, uint32_t node) {
  const td_catalog_node *known = td_catalog_node_get(td_document_get_catalog(self->document), node);
  uint32_t all = (1u << self->n_words) - 1;
  uint32_t found = find_in_text(self, known->name) | find_in_text(self, known->label) |
                   find_in_text(self, known->module) | find_in_text(self, known->module_class) |
                   find_in_text(self, known->stack);
  if (found == all) return TRUE;
  found |= self->in_state[td_state_node(td_document_get_state(self->document), node)->state];
  if (found == all) return TRUE;
  return (found | self->may_be_numbers) == all && (found | find_in_number(self, node)) == all;
}

uint32_t
td_node_query_run(TdNodeQuery *self, uint32_t *nodes, uint32_t room) {
  td_graph_scene *scene = td_document_get_scene(self->document);
  uint32_t n_scene = scene ? td_graph_scene_n_nodes(scene) : 0, n = 0;
  for (uint32_t i = 0; i < n_scene; i++) {
    uint32_t node = td_graph_scene_node(scene, i);
    if (!td_node_query_matches(self, node)) continue;
    if (n++ < room) nodes[n - 1] = node;
  }
  double x, y;
  const td_catalog *catalog = td_document_get_catalog(self->document);
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    uint32_t node = catalog->node_rows[i].id;
    if (!td_node_query_matches(self, node)) continue;
    if (scene && td_graph_scene_place(scene, node, &x, &y)) continue;
    if (n++ < room) nodes[n - 1] = node;
  }
  return n;
}
