/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where somebody answers a question: a list of choices, which are chosen or put in order, or an
 * entry for a number. Signal "changed": another answer. Main thread. */
#pragma once

#include "ui/model/lesson/lesson_walk.h"

#include <adwaita.h>

#define TD_TYPE_ANSWER_LIST (td_answer_list_get_type())
G_DECLARE_FINAL_TYPE(TdAnswerList, td_answer_list, TD, ANSWER_LIST, AdwBin)

/* td_answer_list_set_question shows the question of a walk's step; none if it asks nothing. */
void td_answer_list_set_question(TdAnswerList *self, TdLessonWalk *walk);

/* td_answer_list_choose_node chooses a node, if it is one of the choices. */
void td_answer_list_choose_node(TdAnswerList *self, uint32_t node);

/* td_answer_list_get writes the answer, and returns how many values it has: 0 if it is not
 * complete.
 */
guint td_answer_list_get(TdAnswerList *self, guint64 values[TD_QUESTION_CHOICES]);
gboolean td_answer_list_is_complete(TdAnswerList *self);
