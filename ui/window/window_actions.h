/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every action of the window in one table: its key, its title, its function. The table also
 * gives tooltips, names for screen readers, accelerators and the list of shortcuts. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_actions_install adds the actions to a window, and gives its buttons their tooltips and
 * names. From then on the window's signal "changed" enables the actions that make sense. Call it
 * once for a window. */
void td_window_actions_install(TdWindow *window);
