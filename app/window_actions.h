/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every action of the window in one table: its key, its words, what it does. Tooltips, screen
 * readers' names, the accelerators and the list of shortcuts come from it. Main thread. */
#pragma once

#include "app/window.h"

/* td_window_actions_install adds the actions to a window and gives its buttons their tooltips and
 * names. */
void td_window_actions_install(TdWindow *window);

/* td_window_actions_update enables what makes sense now. */
void td_window_actions_update(TdWindow *window);

/* td_window_actions_show_shortcuts opens the list of keys. */
void td_window_actions_show_shortcuts(TdWindow *window);
