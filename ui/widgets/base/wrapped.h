/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Labels that wrap. GTK asks such a label, or a box that has one, how wide it must be for a height.
 * The answer is to try one width after another. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_wrapped_init makes a widget the bin of its one child. The bin has no width of its own: it
 * takes what there is, and says how high it must be. Nobody asks the child for a width. */
void td_wrapped_init(GtkWidget *bin);

/* td_wrapped_row_new returns a horizontal box without a width of its own. Its child that has
 * hexpand gets the width that the others leave. A GtkBox would try one width of it after another.
 */
GtkWidget *td_wrapped_row_new(int space);

/* td_wrapped_fix gives each label in a widget room for so many letters, and no wish for more. Then
 * there is only one width to try: a row takes a thirtieth of the time. A label still fills what its
 * parent gives it. */
void td_wrapped_fix(GtkWidget *widget, int chars);
