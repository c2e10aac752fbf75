/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A window that shows two tapes beside each other, or two passes of one tape. Workers read and
 * compare the tapes. The signal "ready" says that both are shown. Main thread. */
#pragma once

#include "ui/model/compare/alignment_work.h"
#include "ui/model/document/document.h"
#include "ui/widgets/view/compare_view.h"

#include <adwaita.h>

#define TD_TYPE_COMPARE_WINDOW (td_compare_window_get_type())
G_DECLARE_FINAL_TYPE(TdCompareWindow, td_compare_window, TD, COMPARE_WINDOW, AdwApplicationWindow)

/* td_compare_window_new begins to read what the wish names. The first side opens at the position
 * that `find` returns. If `find` returns FALSE, the window closes. NULL finds the begin of the
 * pass. */
TdCompareWindow *td_compare_window_new(GtkApplication *application, const TdAlignmentWish *wish,
                                       TdFindPosition find, gpointer data);

/* td_compare_window_is_settled tells whether nothing is in progress, of a TdCompareWindow. */
gboolean td_compare_window_is_settled(GtkWindow *window);

/* td_compare_window_get_sides returns the playheads, td_compare_window_get_view what shows them;
 * borrowed. td_compare_window_say shows a short message. */
TdSideBySide *td_compare_window_get_sides(TdCompareWindow *self);
TdCompareView *td_compare_window_get_view(TdCompareWindow *self);
void td_compare_window_say(TdCompareWindow *self, const char *text);
