/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the graph of the pass shown is folded: which modules are open, and the scene of that. A
 * worker lays out a large one. Other passes of the same tape are folded in the same way. Main
 * thread only. */
#pragma once

#include "ui/model/document/document.h"

#define TD_TYPE_FOLD_CHOICE (td_fold_choice_get_type())
G_DECLARE_FINAL_TYPE(TdFoldChoice, td_fold_choice, TD, FOLD_CHOICE, GObject)

/* td_fold_choice_new returns one that folds a pass if the tape names its modules, unless
 * td_graph_scene_reads_whole tells that it can be read unfolded. A module that is the greater part
 * of the pass is open then, if it has modules inside. Signal "changed": the scene or its text is
 * another. Signal "changing": the scene is about to go; until all have heard "changed",
 * td_fold_choice_take_before still has it. */
TdFoldChoice *td_fold_choice_new(void);

/* td_fold_choice_show says which pass of a document is shown. */
void td_fold_choice_show(TdFoldChoice *self, TdDocument *document, uint32_t graph_task);

/* td_fold_choice_open opens the block that a node is in. td_fold_choice_close folds the innermost
 * open module around the node or around its block. Both return FALSE if there is none. */
gboolean td_fold_choice_open(TdFoldChoice *self, uint32_t node);
gboolean td_fold_choice_close(TdFoldChoice *self, uint32_t node);

/* td_fold_choice_open_all shows every node. td_fold_choice_close_all folds all, also a small pass.
 * FALSE if the pass has nothing to fold. */
void td_fold_choice_open_all(TdFoldChoice *self);
gboolean td_fold_choice_close_all(TdFoldChoice *self);

/* td_fold_choice_get_scene returns the folded scene, borrowed until "changing" or
 * td_fold_choice_show. NULL: nothing is folded, or the worker is not done. */
td_graph_scene *td_fold_choice_get_scene(TdFoldChoice *self);

/* td_fold_choice_take_before returns the scene that was there before, to whoever listens to
 * "changed"; the caller frees it. NULL: nothing was folded. */
td_graph_scene *td_fold_choice_take_before(TdFoldChoice *self);

/* td_fold_choice_get_wish returns another number each time somebody opens or folds something, and
 * for another pass. td_fold_choice_get_anchor returns the node of the last wish, or TD_NONE. */
guint td_fold_choice_get_wish(TdFoldChoice *self);
uint32_t td_fold_choice_get_anchor(TdFoldChoice *self);
gboolean td_fold_choice_is_busy(TdFoldChoice *self);

/* td_fold_choice_dup_text says what is folded: "6 blocks and 14 nodes stand for 1 200 nodes".
 * td_fold_choice_dup_brief says it in few letters: "20 / 1 200". NULL if nothing is. The caller
 * frees. */
char *td_fold_choice_dup_text(TdFoldChoice *self);
char *td_fold_choice_dup_brief(TdFoldChoice *self);

/* td_fold_choice_dup_block says which block a node is in: "h.0–15, 896 nodes". NULL if the scene
 * shows the node itself. The caller frees. */
char *td_fold_choice_dup_block(TdFoldChoice *self, uint32_t node);
