/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where NaN and Inf were born and what failed; a click goes there. Main thread. */
#pragma once

#include "ui/model/playhead.h"

#include <adwaita.h>

#define TD_TYPE_PROBLEMS_PANE (td_problems_pane_get_type())
G_DECLARE_FINAL_TYPE(TdProblemsPane, td_problems_pane, TD, PROBLEMS_PANE, AdwBin)

void td_problems_pane_set_playhead(TdProblemsPane *self, TdPlayhead *playhead);
