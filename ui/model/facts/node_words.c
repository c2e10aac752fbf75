/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/node_words.h"

#include "ui/model/base/dotted.h"
#include "ui/model/base/source_line.h"

#include <glib/gi18n.h>
#include <string.h>

#define MOST_WORDS 8

struct TdNodeWords {
  GStrv words; /* (owned) folded */
  guint n;
  uint32_t may_be_numbers; /* bits of words */
  GHashTable *known;       /* (owned) text -> which words are in it, as bits, plus one */
};

uint32_t
td_node_words_in(const TdNodeWords *self, const char *text) {
  uint32_t found = 0;
  g_autofree char *folded = g_utf8_casefold(text, -1);
  for (guint i = 0; i < self->n; i++)
    if (strstr(folded, self->words[i])) found |= 1u << i;
  return found;
}

/* Texts of a tape are interned: the same one has the same address. */
static uint32_t
find_in_text(TdNodeWords *self, const char *text) {
  if (!text || !*text) return 0;
  gpointer known = g_hash_table_lookup(self->known, text);
  if (!known) {
    known = GUINT_TO_POINTER(td_node_words_in(self, text) + 1);
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
find_in_number(TdNodeWords *self, uint32_t node) {
  char buffer[16];
  const char *digits = write_digits(node, buffer);
  uint32_t found = 0;
  for (guint i = 0; i < self->n; i++) {
    const char *word = self->words[i];
    bool exact = *word == '#';
    if (exact ? strcmp(digits, word + 1) == 0 : strstr(digits, word) != NULL) found |= 1u << i;
  }
  return found;
}

TdNodeWords *
td_node_words_new(const char *typed) {
  TdNodeWords *self = g_new0(TdNodeWords, 1);
  g_autofree char *folded = g_utf8_casefold(typed, -1);
  g_auto(GStrv) parts = g_strsplit_set(folded, " \t", -1);
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  for (guint i = 0; parts[i] && self->n < MOST_WORDS; i++) {
    if (!*parts[i] || !strcmp(parts[i], "·")) continue; /* of "Linear · layers.0" on a card */
    g_strv_builder_add(words, parts[i]);
    bool number = *parts[i] == '#' || strspn(parts[i], "0123456789") == strlen(parts[i]);
    self->may_be_numbers |= (uint32_t)number << self->n++;
  }
  self->words = g_strv_builder_end(words);
  self->known = g_hash_table_new(NULL, NULL);
  return self;
}

void
td_node_words_free(TdNodeWords *self) {
  g_hash_table_unref(self->known);
  g_strfreev(self->words);
  g_free(self);
}

gboolean
td_node_words_is_empty(const TdNodeWords *self) {
  return self->n == 0;
}

static uint32_t
all_of(const TdNodeWords *self) {
  return (1u << self->n) - 1;
}

gboolean
td_node_words_are_in(const TdNodeWords *self, const char *text) {
  return td_node_words_in(self, text) == all_of(self);
}

gboolean
td_node_words_match(TdNodeWords *self, const td_catalog_node *node, uint32_t also) {
  uint32_t all = all_of(self);
  uint32_t found = also | find_in_text(self, node->name) | find_in_text(self, node->label) |
                   find_in_text(self, node->module) | find_in_text(self, node->module_class) |
                   find_in_text(self, node->stack);
  if (found == all) return TRUE;
  return (found | self->may_be_numbers) == all && (found | find_in_number(self, node->id)) == all;
}

gboolean
td_node_words_may_match(TdNodeWords *self, const td_tape *tape, uint32_t n_strings) {
  uint32_t found = self->may_be_numbers;
  for (uint32_t i = 1; i <= n_strings && found != all_of(self); i++)
    found |= td_node_words_in(self, td_tape_string(tape, i));
  return found == all_of(self);
}

char *
td_node_words_describe(const td_catalog *catalog, const td_catalog_node *node, const char *state) {
  g_autofree char *line = td_source_line_dup_short(node->stack);
  g_autofree char *module = td_catalog_module_label(catalog, node->id);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s #%u", *node->name ? node->name : C_("name", "node"), node->id);
  const char *const parts[] = {node->label, module, line, state};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    td_dotted_add(text, parts[i]);
  return g_string_free(text, FALSE);
}
