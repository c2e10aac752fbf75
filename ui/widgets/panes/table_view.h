/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shows a table of quantities. A click on a heading sorts, and letters filter. The signal "chosen"
 * (TdTableRow *) tells which row somebody chose. Main thread. */
#pragma once

#include "ui/model/analysis/table.h"

#include <adwaita.h>

#define TD_TYPE_TABLE_VIEW (td_table_view_get_type())
G_DECLARE_FINAL_TYPE(TdTableView, td_table_view, TD, TABLE_VIEW, AdwBin)

/* td_table_view_show shows a table, or none with NULL; it keeps a reference. A table with the
 * columns of the one before keeps its order. `label` names it for screen readers. */
void td_table_view_show(TdTableView *self, TdTable *table, const char *label);

/* td_table_view_filter shows only the rows that have these letters, from the first one; all for "".
 */
void td_table_view_filter(TdTableView *self, const char *letters);

/* td_table_view_get_selected returns the selected row, or NULL; borrowed. */
TdTableRow *td_table_view_get_selected(TdTableView *self);
