/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture of the window, for tests and documents. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_screenshot_when_settled writes a PNG when the window has loaded and drawn everything. Then it
 * closes the window. The path must live as long as the window. */
void td_screenshot_when_settled(GtkWindow *window, gboolean (*is_settled)(GtkWindow *window),
                                const char *path);

/* td_screenshot_status returns an exit status. It is not 0 if the picture could not be written. */
int td_screenshot_status(void);
