/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar over the graph that says which part of it is shown, and leads back to the whole graph. It
 * is there only if a part is shown, or if somebody looks for the end of a path. Main thread. */
#pragma once

#include "ui/model/document/subset_choice.h"
#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_SUBSET_BAR (td_subset_bar_get_type())
G_DECLARE_FINAL_TYPE(TdSubsetBar, td_subset_bar, TD, SUBSET_BAR, AdwBin)

void td_subset_bar_set_choice(TdSubsetBar *self, TdSubsetChoice *choice);
void td_subset_bar_set_playhead(TdSubsetBar *self, TdPlayhead *playhead);
