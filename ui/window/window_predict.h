/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the tape would look like under another schedule, beside what it is. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_predict predicts for the policy that is selected in the table of other schedules, and
 * opens a window with both tapes. The prediction goes with that window. */
void td_window_predict(TdWindow *window);
