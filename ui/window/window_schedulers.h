/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two schedulers beside each other, on one script. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_compare_schedulers runs the script of the last lesson twice: as the engine of 2016 and
 * 2017 scheduled, and as today's does. Then it opens both tapes in a window of their own. */
void td_window_compare_schedulers(TdWindow *window);
