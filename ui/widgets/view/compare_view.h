/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two graphs beside each other, what `diff` says of them, and one bar that moves both. The buttons
 * of the bar are actions of the window. Main thread. */
#pragma once

#include "ui/model/compare/side_by_side.h"

#include <gtk/gtk.h>

#define TD_TYPE_COMPARE_VIEW (td_compare_view_get_type())
G_DECLARE_FINAL_TYPE(TdCompareView, td_compare_view, TD, COMPARE_VIEW, GtkBox)

/* td_compare_view_set_sides is called once, before the sides have documents. */
void td_compare_view_set_sides(TdCompareView *self, TdSideBySide *sides);

/* td_compare_view_set_title says what a side shows. */
void td_compare_view_set_title(TdCompareView *self, int side, const char *title);

/* td_compare_view_show_difference goes to the first difference, and brings the nodes there into the
 * middle of their graphs. */
void td_compare_view_show_difference(TdCompareView *self);

/* td_compare_view_lead_other lets the other side lead. */
void td_compare_view_lead_other(TdCompareView *self);

/* td_compare_view_zoom and td_compare_view_fit do so with both graphs. */
void td_compare_view_zoom(TdCompareView *self, double factor);
void td_compare_view_fit(TdCompareView *self);

/* td_compare_view_show_whole ends what shows a part of a graph, then selects nothing. */
void td_compare_view_show_whole(TdCompareView *self);
