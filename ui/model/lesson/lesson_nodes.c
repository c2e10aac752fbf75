/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/lesson/lesson_nodes.h"

#include <string.h>

/* "MulBackward0/2": the name without the number, and the number; 0 without one. */
static char *
split(const char *words, guint *number) {
  const char *slash = strrchr(words, '/');
  guint64 value;
  *number = 0;
  if (!slash || !g_ascii_string_to_unsigned(slash + 1, 10, 1, G_MAXUINT, &value, NULL))
    return g_strdup(words);
  *number = (guint)value;
  return g_strndup(words, (gsize)(slash - words));
}

static gboolean
has_name(const td_catalog_node *facts, const char *pattern) {
  if (facts->label && *facts->label) {
    g_autofree char *whole = g_strdup_printf("%s(%s)", facts->name, facts->label);
    if (g_pattern_match_simple(pattern, whole)) return TRUE;
  }
  return g_pattern_match_simple(pattern, facts->name);
}

/* Which of the nodes that fit a node is, from 1 on. */
static guint
number_of(const td_catalog *catalog, const td_catalog_node *facts, const char *pattern) {
  guint n = 0;
  for (const td_catalog_node *row = catalog->node_rows; row <= facts; row++)
    n += has_name(row, pattern) != 0;
  return n;
}

gboolean
td_lesson_fits(const td_catalog *catalog, uint32_t node, const char *words) {
  guint number;
  g_autofree char *pattern = split(words, &number);
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return facts && has_name(facts, pattern) &&
         (number == 0 || number_of(catalog, facts, pattern) == number);
}

gboolean
td_lesson_has_node(const td_catalog *catalog, const char *words) {
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    if (td_lesson_fits(catalog, catalog->node_rows[i].id, words)) return TRUE;
  return FALSE;
}

uint32_t
td_lesson_find_node(const td_catalog *catalog, const char *words, GError **error) {
  guint number, n = 0;
  uint32_t found = TD_NONE;
  g_autofree char *pattern = split(words, &number);
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    if (!has_name(&catalog->node_rows[i], pattern)) continue;
    n++;
    if (n == number || (number == 0 && n == 1)) found = catalog->node_rows[i].id;
  }
  if (n == 0 || n < number)
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "no node is '%s'", words);
  else if (number == 0 && n > 1)
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                "%u nodes are '%s': write %s/1 or another number", n, words, words);
  return n == 0 || n < number || (number == 0 && n > 1) ? TD_NONE : found;
}
