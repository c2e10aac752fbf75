/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people may choose for all windows: light or dark, the size of text, motion, and the speed at
 * which a tape plays. Main thread. */
#pragma once

#include "ui/window/config.h"

#include <adwaita.h>

/* td_preferences_apply takes what is stored. td_preferences_speed returns the speed of a new
 * window.
 */
void td_preferences_apply(TdConfig *config);
guint td_preferences_speed(TdConfig *config, guint fallback);

/* td_preferences_show opens the dialog. What somebody changes counts at once, and is stored. The
 * config must live as long as the parent. */
void td_preferences_show(GtkWindow *parent, TdConfig *config);
