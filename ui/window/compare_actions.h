/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every action of the window of two tapes in one table: its key, its title, its function. Main
 * thread. */
#pragma once

#include "ui/window/compare_window.h"

/* td_compare_actions_install adds the actions to a window, and gives its buttons their tooltips and
 * names. Those that move the tapes are off until the tapes are there. Call it once for a window. */
void td_compare_actions_install(TdCompareWindow *window);
