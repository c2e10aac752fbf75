/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/fold_wish.h"

enum { OPEN = 1, CLOSED };

void
td_fold_wish_init(td_fold_wish *self) {
  self->rule = TD_FOLD_BY_TEXT;
  self->open = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void
td_fold_wish_fini(td_fold_wish *self) {
  g_clear_pointer(&self->open, g_hash_table_unref);
}

void
td_fold_wish_copy(const td_fold_wish *self, td_fold_wish *copy) {
  GHashTableIter iter;
  gpointer path, wanted;
  td_fold_wish_init(copy);
  copy->rule = self->rule;
  g_hash_table_iter_init(&iter, self->open);
  while (g_hash_table_iter_next(&iter, &path, &wanted))
    g_hash_table_insert(copy->open, g_strdup(path), wanted);
}

void
td_fold_wish_set_rule(td_fold_wish *self, td_fold_rule rule) {
  g_hash_table_remove_all(self->open);
  self->rule = rule;
}

void
td_fold_wish_set(td_fold_wish *self, const char *path, gboolean open) {
  g_hash_table_insert(self->open, g_strdup(path), GINT_TO_POINTER(open ? OPEN : CLOSED));
}

static uint32_t *
count_inside(const td_fold_tree *tree) {
  uint32_t *n = g_new0(uint32_t, tree->n_groups);
  for (uint32_t g = 1; g < tree->n_groups; g++)
    n[tree->groups[g].parent] += tree->groups[g].n_nodes;
  return n;
}

/* Most of the pass is in it, and most of that is in modules inside. */
static gboolean
is_frame(const td_fold_tree *tree, uint32_t group, uint32_t n_inside) {
  const td_fold_group *self = &tree->groups[group];
  gboolean of_run = self->n_blocks > 1 || tree->groups[self->parent].n_blocks > 1;
  return !of_run && 2 * self->n_nodes > tree->groups[0].n_nodes && 2 * n_inside > self->n_nodes;
}

uint8_t *
td_fold_wish_find_open(const td_fold_wish *self, const td_fold_tree *tree, gboolean reads) {
  g_autofree uint32_t *n_inside = count_inside(tree);
  uint8_t *open = g_new0(uint8_t, tree->n_groups);
  for (uint32_t g = 0; g < tree->n_groups; g++) {
    gpointer wanted = g_hash_table_lookup(self->open, tree->groups[g].path);
    if (wanted)
      open[g] = GPOINTER_TO_INT(wanted) == OPEN;
    else if (self->rule == TD_FOLD_NOTHING || (self->rule == TD_FOLD_BY_TEXT && reads))
      open[g] = 1;
    else
      open[g] = is_frame(tree, g, n_inside[g]);
  }
  return open;
}

gboolean
td_fold_wish_folds(const td_fold_tree *tree, const uint8_t *open) {
  for (uint32_t g = 1; g < tree->n_groups; g++)
    if (!open[g] && tree->groups[g].n_nodes > 1) return TRUE;
  return FALSE;
}
