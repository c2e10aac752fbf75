/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the steps of a lesson are on a tape: Note [Lesson files] in ui/model/lesson/lesson.h. Main
 * thread.
 */
#pragma once

#include "engine/profile/quiz/question.h"
#include "ui/model/lesson/lesson.h"

/* A step on a tape. */
typedef struct td_lesson_stop {
  uint64_t position;
  GArray *shown; /* (owned) of uint32_t: nodes */
  gboolean asks;
  td_question question;
} td_lesson_stop;

td_lesson_stop *td_lesson_stop_new(uint64_t position);
void td_lesson_stop_free(gpointer stop);

/* td_lesson_place finds the moments of all steps, makes their questions, and checks their claims.
 * It returns a GPtrArray of td_lesson_stop, one for each step. NULL with an error if the tape does
 * not have one, or if a claim is false. The replay is of the whole tape, and stays where it is.
 * td_lesson_place_leniently is for a script that is another by now. Claims do not count then. A
 * step that the tape does not have is where the step before is, without a question. */
GPtrArray *td_lesson_place(const td_lesson *lesson, td_replay *replay, GError **error);
GPtrArray *td_lesson_place_leniently(const td_lesson *lesson, td_replay *replay);
