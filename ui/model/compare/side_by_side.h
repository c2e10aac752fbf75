/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two tapes beside each other, or two passes of one tape: two playheads that go together. One side
 * leads: the person moves it and selects in it. The other side follows to the position and to the
 * node that go with it: Note [Two playheads] in ui/model/compare/alignment.h. Sides are 0 and 1.
 * Main thread.
 *
 * Signals: "lead-changed", and "shown" when both playheads have a document. */
#pragma once

#include "ui/model/compare/alignment_work.h"
#include "ui/model/playhead/playhead.h"

#define TD_TYPE_SIDE_BY_SIDE (td_side_by_side_get_type())
G_DECLARE_FINAL_TYPE(TdSideBySide, td_side_by_side, TD, SIDE_BY_SIDE, GObject)

TdSideBySide *td_side_by_side_new(void);

/* td_side_by_side_get_playhead returns the playhead of a side; borrowed. It has no document before
 * td_side_by_side_show. */
TdPlayhead *td_side_by_side_get_playhead(TdSideBySide *self, int side);

/* td_side_by_side_show shows two documents that are loaded. It takes what was found of them. Side 0
 * stands where its document does. Call it once. */
void td_side_by_side_show(TdSideBySide *self, TdDocument *a, TdDocument *b, TdAligned *aligned);

/* td_side_by_side_get_aligned returns what was found, or NULL before td_side_by_side_show. */
const TdAligned *td_side_by_side_get_aligned(TdSideBySide *self);

void td_side_by_side_set_lead(TdSideBySide *self, int side);
int td_side_by_side_get_lead(TdSideBySide *self);

/* td_side_by_side_play plays the lead, or pauses it. At the end of its side it begins anew. */
void td_side_by_side_play(TdSideBySide *self);

/* td_side_by_side_go_to_difference brings both playheads to the first place where the order
 * differs, and selects the nodes there. FALSE if there is none. */
gboolean td_side_by_side_go_to_difference(TdSideBySide *self);
