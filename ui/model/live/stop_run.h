/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A run of the playhead to the next stop of a list, or back to the one before. A worker looks for
 * it. Another run, and whoever moves the playhead meanwhile, ends the search. Main thread. */
#pragma once

#include "ui/model/live/stop_list.h"

#define TD_TYPE_STOP_RUN (td_stop_run_get_type())
G_DECLARE_FINAL_TYPE(TdStopRun, td_stop_run, TD, STOP_RUN, GObject)

/* Signal "past-end": no further stop was found, and whoever ran wanted to hear of it. */
TdStopRun *td_stop_run_new(TdPlayhead *playhead, TdStopList *stops);

/* td_stop_run_start goes to the next event where a stop holds (1), or to the one before (-1).
 * Without such an event it says so, or emits "past-end" if that is wanted. */
void td_stop_run_start(TdStopRun *self, int direction, gboolean goes_past_end);

gboolean td_stop_run_is_busy(TdStopRun *self);
