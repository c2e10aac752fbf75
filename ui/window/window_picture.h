/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saves the pictures of a window as PNG, SVG or PDF, or copies them: graph, queues, timeline and
 * the others that are a TdCanvas. Both kinds of windows. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_window_pictures_install is called once for a TdWindow or a TdCompareWindow, when all its
 * canvases are there: then their menus work. */
void td_window_pictures_install(GtkWindow *window);

/* td_window_save_picture asks where the picture that has the focus goes, else the graph. */
void td_window_save_picture(GtkWindow *window);

/* td_window_cancel_picture gives up a picture that is being saved. FALSE if there is none. */
gboolean td_window_cancel_picture(GtkWindow *window);
