/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What somebody wants to see folded: a rule for all groups, and the groups that somebody opened or
 * closed. Groups have paths, so that a wish fits each pass of a tape. One thread at a time. */
#pragma once

#include "ui/geometry/fold_tree.h"

#include <glib.h>

typedef enum td_fold_rule {
  TD_FOLD_BY_TEXT, /* a pass whose texts cannot be read where all of it is in view */
  TD_FOLD_NOTHING,
  TD_FOLD_ALL
} td_fold_rule;

typedef struct td_fold_wish {
  td_fold_rule rule;
  GHashTable *open; /* (owned) path of a group (owned) -> 1: open, 2: closed */
} td_fold_wish;

void td_fold_wish_init(td_fold_wish *wish);
void td_fold_wish_fini(td_fold_wish *wish);
void td_fold_wish_copy(const td_fold_wish *wish, td_fold_wish *copy);

/* td_fold_wish_set_rule forgets what somebody wanted of groups. td_fold_wish_set opens or closes
 * one group. */
void td_fold_wish_set_rule(td_fold_wish *wish, td_fold_rule rule);
void td_fold_wish_set(td_fold_wish *wish, const char *path, gboolean open);

/* td_fold_wish_find_open returns for each group whether it is open. `reads`: the texts of the whole
 * pass can be read. Where the rule folds, a group is open that has most of the pass, if most of
 * that is in groups inside. Runs and their modules are closed. The caller frees. td_fold_wish_folds
 * tells whether a group of more than one node is closed. */
uint8_t *td_fold_wish_find_open(const td_fold_wish *wish, const td_fold_tree *tree, gboolean reads);
gboolean td_fold_wish_folds(const td_fold_tree *tree, const uint8_t *open);
