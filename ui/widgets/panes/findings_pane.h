/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is wrong with the program of a tape: findings as cards, and each event that tells of a
 * problem. A click goes there. Its property `count` says how many findings there are; until they
 * are known, how many such events. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"
#include "ui/model/playhead/shown_chain.h"

#include <adwaita.h>

#define TD_TYPE_FINDINGS_PANE (td_findings_pane_get_type())
G_DECLARE_FINAL_TYPE(TdFindingsPane, td_findings_pane, TD, FINDINGS_PANE, AdwBin)

void td_findings_pane_set_playhead(TdFindingsPane *self, TdPlayhead *playhead);

/* td_findings_pane_set_chain gives the pane the chain that a card begins. */
void td_findings_pane_set_chain(TdFindingsPane *self, TdShownChain *way);

/* td_findings_pane_is_busy tells whether the pane still looks for findings. */
gboolean td_findings_pane_is_busy(TdFindingsPane *self);
