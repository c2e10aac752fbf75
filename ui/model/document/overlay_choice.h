/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The overlay that somebody wants to see on the graph, for the pass shown. A worker computes it
 * from a reading of the tape of its own. Main thread only. */
#pragma once

#include "engine/profile/report/overlay.h"
#include "ui/model/document/document.h"

#define TD_TYPE_OVERLAY_CHOICE (td_overlay_choice_get_type())
G_DECLARE_FINAL_TYPE(TdOverlayChoice, td_overlay_choice, TD, OVERLAY_CHOICE, GObject)

/* td_overlay_choice_dup_titles returns what people can choose, translated: the states first, then
 * each kind in its order. The caller frees. */
GStrv td_overlay_choice_dup_titles(void);

/* td_overlay_choice_new returns one that shows states alone. Signal "changed": the overlay or its
 * note is another. Property "kind": a td_overlay_kind; TD_N_OVERLAYS for states. */
TdOverlayChoice *td_overlay_choice_new(void);
td_overlay_kind td_overlay_choice_get_kind(TdOverlayChoice *self);
void td_overlay_choice_set_kind(TdOverlayChoice *self, td_overlay_kind kind);

/* td_overlay_choice_show says which pass is shown. A document may be NULL. */
void td_overlay_choice_show(TdOverlayChoice *self, TdDocument *document, uint32_t graph_task);

/* td_overlay_choice_is_busy tells whether a worker still computes what is wanted. */
gboolean td_overlay_choice_is_busy(TdOverlayChoice *self);

/* td_overlay_choice_get returns what to draw, borrowed until "changed", or NULL for states.
 * td_overlay_choice_get_note says why an overlay has no figures, or returns NULL. */
const td_overlay *td_overlay_choice_get(TdOverlayChoice *self);
const char *td_overlay_choice_get_note(TdOverlayChoice *self);

/* td_overlay_choice_dup_sentence returns what the overlay has of a node: "Time: 3 ms.", or NULL.
 * The caller frees. */
char *td_overlay_choice_dup_sentence(TdOverlayChoice *self, uint32_t node);
