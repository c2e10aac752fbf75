/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * "Where did this come from?": the chain back from the playhead or the selected node to its cause,
 * and how far somebody has walked it. It ends if somebody selects a node that is not on its way, or
 * sees another document. Main thread only. */
#pragma once

#include "ui/draw/graph_view.h"
#include "ui/model/playhead/playhead.h"

#define TD_TYPE_SHOWN_CHAIN (td_shown_chain_get_type())
G_DECLARE_FINAL_TYPE(TdShownChain, td_shown_chain, TD, SHOWN_CHAIN, GObject)

/* td_shown_chain_new listens to a playhead. Signal "changed": it begins, goes on or ends. Signal
 * "stepped": it brought the playhead to a step. */
TdShownChain *td_shown_chain_new(TdPlayhead *playhead);

/* td_shown_chain_step asks where the moment at the playhead came from; with a selected node, where
 * that node's did. With a chain, it goes back one step. The playhead goes to the event of the step,
 * and its node is selected. Where there is no further step, the playhead says so.
 * If the chain is long, a worker looks for it. Whoever moves the playhead meanwhile ends that. */
void td_shown_chain_step(TdShownChain *self);

/* td_shown_chain_is_busy tells whether that worker is at work. */
gboolean td_shown_chain_is_busy(TdShownChain *self);

/* td_shown_chain_end forgets the chain. */
void td_shown_chain_end(TdShownChain *self);

/* td_shown_chain_get_nodes returns the nodes on the way from the moment on, each with the number of
 * its first step. Neighbours differ. It writes how many they are, and which is the present one.
 * Borrowed until "changed"; none without a chain. */
const td_chain_node *td_shown_chain_get_nodes(TdShownChain *self, guint *n, guint *present);

/* td_shown_chain_dup_place returns "Step 2 of 8", td_shown_chain_dup_text the sentence of the step.
 * NULL without a chain. The caller frees. td_shown_chain_is_over tells whether the last step is the
 * present one. */
char *td_shown_chain_dup_place(TdShownChain *self);
char *td_shown_chain_dup_text(TdShownChain *self);
gboolean td_shown_chain_is_over(TdShownChain *self);
