/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar over the graph that says how much of it is folded, with a button that opens all. It is
 * there only if something is folded, and no part of the graph is shown alone. Main thread. */
#pragma once

#include "ui/model/document/fold_choice.h"
#include "ui/model/document/subset_choice.h"

#include <adwaita.h>

#define TD_TYPE_FOLD_BAR (td_fold_bar_get_type())
G_DECLARE_FINAL_TYPE(TdFoldBar, td_fold_bar, TD, FOLD_BAR, AdwBin)

void td_fold_bar_set_choices(TdFoldBar *self, TdFoldChoice *folds, TdSubsetChoice *subset);
