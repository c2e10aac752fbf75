/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar below the graph that says what led to the moment. It has the sentence of the present step
 * of a chain, and a button for the next one. Without a chain it hides. Main thread. */
#pragma once

#include "ui/model/playhead/shown_chain.h"

#include <adwaita.h>

#define TD_TYPE_CHAIN_BAR (td_chain_bar_get_type())
G_DECLARE_FINAL_TYPE(TdChainBar, td_chain_bar, TD, CHAIN_BAR, AdwBin)

void td_chain_bar_set_chain(TdChainBar *self, TdShownChain *way);
