/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is wrong with the program of a tape: findings as cards, and each event that tells of a
 * problem. A click goes there. Its property `count` says how many findings there are; until they
 * are known, how many such events. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"
#include "ui/model/playhead/shown_chain.h"

#include <adwaita.h>

#define TD_TYPE_PROBLEMS_PANE (td_problems_pane_get_type())
G_DECLARE_FINAL_TYPE(TdProblemsPane, td_problems_pane, TD, PROBLEMS_PANE, AdwBin)

void td_problems_pane_set_playhead(TdProblemsPane *self, TdPlayhead *playhead);

/* td_problems_pane_set_chain gives the pane the chain that a card begins. */
void td_problems_pane_set_chain(TdProblemsPane *self, TdShownChain *way);

/* td_problems_pane_is_busy tells whether the findings to see are still looked for. */
gboolean td_problems_pane_is_busy(TdProblemsPane *self);
