/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The keyboard's focus, and rows that go. GTK 4.8 gives the focus of a row that goes to one that is
 * about to go too. Or it asks about a widget that it has freed. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_focus_is_in tells whether a widget, or one inside it, has its window's focus. td_focus_drop
 * takes the focus away then: call it before rows go. */
gboolean td_focus_is_in(GtkWidget *widget);
void td_focus_drop(GtkWidget *widget);
