/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A place for a list. In GTK, Tab goes from row to row; a list of ten million events then is a
 * trap. Here, Tab goes past the list, and arrow keys go from row to row. Main thread only. */
#pragma once

#include <adwaita.h>

#define TD_TYPE_LIST_BIN (td_list_bin_get_type())
G_DECLARE_FINAL_TYPE(TdListBin, td_list_bin, TD, LIST_BIN, AdwBin)

/* td_list_bin_new takes the list, or what scrolls it. */
GtkWidget *td_list_bin_new(GtkWidget *list);
