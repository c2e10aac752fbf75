/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine can find out about the tape: one of several tables. A row that somebody chooses
 * goes to its node and its time. Main thread. */
#pragma once

#include "ui/model/analysis/analysis_wish.h"
#include "ui/model/playhead/brush.h"

#include <adwaita.h>

#define TD_TYPE_ANALYSIS_PANE (td_analysis_pane_get_type())
G_DECLARE_FINAL_TYPE(TdAnalysisPane, td_analysis_pane, TD, ANALYSIS_PANE, AdwBin)

void td_analysis_pane_set_playhead(TdAnalysisPane *self, TdPlayhead *playhead);

/* td_analysis_pane_set_brush has the tables count only what happened in the range of a brush. It is
 * called once. */
void td_analysis_pane_set_brush(TdAnalysisPane *self, TdBrush *brush);

/* td_analysis_pane_show shows the analysis of a name, FALSE if there is none. */
gboolean td_analysis_pane_show(TdAnalysisPane *self, const char *name);

/* td_analysis_pane_get_name returns the name of the analysis that is chosen. Constant. */
const char *td_analysis_pane_get_name(TdAnalysisPane *self);

/* td_analysis_pane_set_wide puts the choices beside each other, or one below the other. */
void td_analysis_pane_set_wide(TdAnalysisPane *self, gboolean is_wide);

/* td_analysis_pane_is_busy tells whether the table to see is still being made. */
gboolean td_analysis_pane_is_busy(TdAnalysisPane *self);

/* td_analysis_pane_get_policy returns the policy that is selected in the table of other schedules,
 * "fifo", or NULL if none is. It writes what the table is of. Both are borrowed. */
const char *td_analysis_pane_get_policy(TdAnalysisPane *self, TdAnalysisWish *wish);
