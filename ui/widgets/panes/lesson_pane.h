/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pane of a lesson or a quiz: what the step says, its question, and what is right. A task can
 * be chosen in the list, or in the graph. It is there only if somebody takes a lesson. Signal
 * "leave": the person closes it. Main thread. */
#pragma once

#include "ui/model/lesson/lesson_walk.h"

#include <gtk/gtk.h>

#define TD_TYPE_LESSON_PANE (td_lesson_pane_get_type())
G_DECLARE_FINAL_TYPE(TdLessonPane, td_lesson_pane, TD, LESSON_PANE, GtkBox)

void td_lesson_pane_set_playhead(TdLessonPane *self, TdPlayhead *playhead);

/* td_lesson_pane_set_walk shows a lesson or a quiz; NULL hides the pane. */
void td_lesson_pane_set_walk(TdLessonPane *self, TdLessonWalk *walk);

TdLessonWalk *td_lesson_pane_get_walk(TdLessonPane *self); /* borrowed; NULL: none */

/* td_lesson_pane_choose_node chooses a node as the answer, if an open question has it as a choice.
 */
void td_lesson_pane_choose_node(TdLessonPane *self, uint32_t node);

/* td_lesson_pane_go_on gives the answer that is chosen, or goes to the next step. It is for one
 * key, and does nothing without a lesson. */
void td_lesson_pane_go_on(TdLessonPane *self);

/* td_lesson_pane_set_large makes the texts large enough for a lecture hall. */
void td_lesson_pane_set_large(TdLessonPane *self, gboolean large);
