/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The part of a pass that somebody wants to see alone: what is near a node, or what lies between
 * two nodes. A worker lays it out. It belongs to one pass: while another pass is shown, there is no
 * part. Main thread only. */
#pragma once

#include "ui/model/document/document.h"

#define TD_TYPE_SUBSET_CHOICE (td_subset_choice_get_type())
G_DECLARE_FINAL_TYPE(TdSubsetChoice, td_subset_choice, TD, SUBSET_CHOICE, GObject)

/* td_subset_choice_new returns one that wants the whole graph. Signal "changed": the scene, the
 * text or what is wanted is another. */
TdSubsetChoice *td_subset_choice_new(void);

/* td_subset_choice_show says which pass of a document is shown. If the document is a later reading
 * of the same live tape, the same part is laid out anew. */
void td_subset_choice_show(TdSubsetChoice *self, TdDocument *document, uint32_t graph_task);

/* td_subset_choice_want_neighbours wants what is near a node of the pass shown;
 * td_subset_choice_widen changes how many edges away that is, 1 or -1.
 * td_subset_choice_want_paths wants what lies between two nodes. Both return FALSE and change
 * nothing if the graph does not have the node, or no path. */
gboolean td_subset_choice_want_neighbours(TdSubsetChoice *self, uint32_t node);
void td_subset_choice_widen(TdSubsetChoice *self, int step);
gboolean td_subset_choice_want_paths(TdSubsetChoice *self, uint32_t from, uint32_t to);

/* td_subset_choice_set_start says that somebody looks for the node at the end of a path that begins
 * at this node; TD_NONE: no longer. Whatever is wanted ends that too. */
void td_subset_choice_set_start(TdSubsetChoice *self, uint32_t node);
uint32_t td_subset_choice_get_start(TdSubsetChoice *self);

/* td_subset_choice_clear ends the search for the end of a path, or else wants the whole graph.
 * FALSE if the pass shown has neither. */
gboolean td_subset_choice_clear(TdSubsetChoice *self);

/* td_subset_choice_get_scene returns the scene of the part, borrowed until "changed" or
 * td_subset_choice_show. NULL: the whole graph is to be shown, or the worker is not done. */
td_graph_scene *td_subset_choice_get_scene(TdSubsetChoice *self);

/* td_subset_choice_get_wish returns the number of that scene: it is another each time somebody
 * wants another part. 0 without a scene. */
guint td_subset_choice_get_wish(TdSubsetChoice *self);
gboolean td_subset_choice_is_busy(TdSubsetChoice *self);

/* td_subset_choice_get_distance returns how many edges away neighbours are; 0 if what is shown is
 * something else. */
guint td_subset_choice_get_distance(TdSubsetChoice *self);

/* td_subset_choice_dup_text says what is shown, or what to do: "Neighbours of AddBackward0 #12 – 14
 * of 1 200 nodes". NULL for the whole graph. td_subset_choice_dup_brief says it in few
 * letters: "14 / 1 200". The caller frees. */
char *td_subset_choice_dup_text(TdSubsetChoice *self);
char *td_subset_choice_dup_brief(TdSubsetChoice *self);
