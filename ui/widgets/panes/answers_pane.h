/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people ask first of a tape, and the answers, a row each. A click on one goes to its event
 * and node. The button of a topic leads to the page that has more. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_ANSWERS_PANE (td_answers_pane_get_type())
G_DECLARE_FINAL_TYPE(TdAnswersPane, td_answers_pane, TD, ANSWERS_PANE, AdwBin)

void td_answers_pane_set_playhead(TdAnswersPane *self, TdPlayhead *playhead);

/* td_answers_pane_is_busy tells whether the pane still looks for answers. */
gboolean td_answers_pane_is_busy(TdAnswersPane *self);

/* td_answers_pane_get_items returns the answers, a list of TdAnswerItem, or NULL; borrowed. */
GListModel *td_answers_pane_get_items(TdAnswersPane *self);

/* td_answers_pane_is_leading returns TRUE while a click on an answer selects its node. */
gboolean td_answers_pane_is_leading(TdAnswersPane *self);
