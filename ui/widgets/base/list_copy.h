/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ctrl+C in lists: rows as text, with tabs between their cells. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* A TdRowText returns the text of an item; the caller frees. */
typedef char *(*TdRowText)(gpointer item, gpointer data);

/* td_list_copy_add lets Ctrl+C copy the selected row of a list or column view, and Ctrl+Shift+C all
 * rows below `heading`. NULL as heading: the list may be too long for that. The data must live as
 * long as the view. */
void td_list_copy_add(GtkWidget *view, TdRowText text, const char *heading, gpointer data);
