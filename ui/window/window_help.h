/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The user guide: a window of a page that needs no network. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_help_show opens the guide beside a window, or brings it to the front. The window is a
 * GActionGroup with an action `shortcuts`. */
void td_help_show(GtkWindow *window);
