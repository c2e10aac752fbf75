/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of the answers: a figure with its bar, and the answer. Main thread. */
#pragma once

#include "ui/model/answers/answer_item.h"
#include "ui/model/playhead/playhead.h"

#include <gtk/gtk.h>

#define TD_TYPE_ANSWER_ROW (td_answer_row_get_type())
G_DECLARE_FINAL_TYPE(TdAnswerRow, td_answer_row, TD, ANSWER_ROW, GtkListBoxRow)

/* td_answer_row_new returns a row, which keeps a reference to the item. */
GtkWidget *td_answer_row_new(TdAnswerItem *item);
TdAnswerItem *td_answer_row_get_item(TdAnswerRow *self); /* (borrowed) */

/* td_answer_row_go moves a playhead to the event of an answer, and selects its node. FALSE if the
 * answer has no event. */
gboolean td_answer_row_go(TdAnswerItem *item, TdPlayhead *playhead);
