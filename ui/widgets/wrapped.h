/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A bin for a label that wraps. The label has no width of its own: it takes what there is, and says
 * how high it must be. So nobody asks it how wide it must be for a height, which it would answer
 * with one long line. In a list it saves most of the time to measure a row. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_wrapped_init makes a widget the bin of its one child. td_wrapped_new makes a bin of a label.
 */
void td_wrapped_init(GtkWidget *bin);
GtkWidget *td_wrapped_new(GtkLabel *label);
