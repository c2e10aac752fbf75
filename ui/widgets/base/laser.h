/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pointer for lectures: a large red dot that everybody in the room can see. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_laser_set makes the pointer over a window such a dot, or the usual arrow again. */
void td_laser_set(GtkWindow *window, gboolean is_on);

/* td_laser_is_on tells whether a widget's window has it. Then no widget chooses another pointer. */
gboolean td_laser_is_on(GtkWidget *widget);
