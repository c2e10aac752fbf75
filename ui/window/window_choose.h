/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Choosing the next task of a live program. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_run_next asks the program to pop the selected node's task next from its queue, and says
 * what the program answers. The window has a live program. */
void td_window_run_next(TdWindow *window);
