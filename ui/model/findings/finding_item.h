/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is wrong with a tape's program, or likely to be, for a list. A worker looks for it, on a
 * reading of the tape of its own. Main thread only. */
#pragma once

#include "ui/model/document/document.h"

#define TD_TYPE_FINDING_ITEM (td_finding_item_get_type())
G_DECLARE_FINAL_TYPE(TdFindingItem, td_finding_item, TD, FINDING_ITEM, GObject)

/* All borrowed. The title says how often, if more than once. Advice is "" if there is none. The
 * place has the line, the step, the pass and the event, as far as they are known. */
const char *td_finding_item_get_title(TdFindingItem *self);
const char *td_finding_item_get_text(TdFindingItem *self);
const char *td_finding_item_get_advice(TdFindingItem *self);
const char *td_finding_item_get_place(TdFindingItem *self);

/* td_finding_item_get_seq returns the event that shows it. */
uint64_t td_finding_item_get_seq(TdFindingItem *self);

/* td_finding_item_get_passes returns FALSE unless it is about what differs between two passes. Then
 * it writes these, that of the event first. td_finding_item_get_node returns the node, or TD_NONE.
 */
gboolean td_finding_item_get_passes(TdFindingItem *self, uint32_t passes[2]);
uint32_t td_finding_item_get_node(TdFindingItem *self);

/* td_finding_item_dup_all returns all of it as lines, for the clipboard. The caller frees. */
char *td_finding_item_dup_all(TdFindingItem *self);

/* td_finding_dup_unjudged says which kinds the document's tape cannot tell of, and what the
 * recorder did no more, or "". The caller frees. */
char *td_finding_dup_unjudged(TdDocument *document);

/* td_finding_was_looked_for returns whether the recording looked for NaN and Inf, at leaves at
 * least.
 */
gboolean td_finding_was_looked_for(TdDocument *document);

/* td_finding_can_look_further returns TRUE if a recording of the same program, with other options,
 * would look where this one did not. */
gboolean td_finding_can_look_further(TdDocument *document);

/* td_finding_items_async looks for findings. finish returns a list of TdFindingItem, which the
 * caller unrefs, or NULL with an error of TD_ERROR or G_IO_ERROR_CANCELLED. */
void td_finding_items_async(TdDocument *document, GCancellable *cancellable,
                            GAsyncReadyCallback done, gpointer data);
GListModel *td_finding_items_finish(GAsyncResult *result, GError **error);
