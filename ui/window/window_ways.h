/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ways into a tape, through it and out of it. Somebody saves a finding, drops a file on the window,
 * or goes back and forward through places visited. A mouse's side buttons do that too. Main thread.
 */
#pragma once

#include "ui/window/window.h"

/* td_window_ways_add is called once for a window, after it has its playhead. */
void td_window_ways_add(TdWindow *window);

/* td_window_visit goes to the place visited before (-1) or after (1). Without one it says so. */
void td_window_visit(TdWindow *window, int direction);

/* td_window_keep_visit makes the present place one to go back to, however near it is to others. */
void td_window_keep_visit(TdWindow *window);
