/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A lesson or a quiz that somebody takes on the tape of a playhead: steps, some with a question.
 * The playhead goes to the moment of the step, and marks its nodes. Signal "changed": another step,
 * or an answer. Main thread. */
#pragma once

#include "engine/profile/quiz/question.h"
#include "ui/model/lesson/lesson.h"
#include "ui/model/playhead/playhead.h"

#define TD_TYPE_LESSON_WALK (td_lesson_walk_get_type())
G_DECLARE_FINAL_TYPE(TdLessonWalk, td_lesson_walk, TD, LESSON_WALK, GObject)

/* td_lesson_walk_new begins a lesson on the tape of its script, and takes the lesson. It goes on
 * where somebody left the lesson, unless that was its end (lesson_progress.h). If the
 * script is the learner's own, nobody checks what the texts say. NULL with an error if the tape
 * does not have what the lesson says. td_lesson_walk_new_quiz begins a quiz of up to n questions on
 * the segment of the tape that is shown. */
TdLessonWalk *td_lesson_walk_new(TdPlayhead *playhead, td_lesson *lesson, gboolean is_own,
                                 GError **error);
TdLessonWalk *td_lesson_walk_new_quiz(TdPlayhead *playhead, guint64 seed, guint n, GError **error);

/* td_lesson_walk_goes_on tells whether the playhead's document is a later reading of the same tape,
 * which grows. Any other document ends the walk: nobody may call the functions below then. */
gboolean td_lesson_walk_goes_on(TdLessonWalk *self);

const char *td_lesson_walk_get_title(TdLessonWalk *self);
const char *td_lesson_walk_get_name(TdLessonWalk *self); /* of the lesson; NULL: a quiz */
gboolean td_lesson_walk_is_own(TdLessonWalk *self);
guint td_lesson_walk_get_n_steps(TdLessonWalk *self);
guint td_lesson_walk_get_step(TdLessonWalk *self); /* from 0 */

/* td_lesson_walk_go goes to the next step (1) or the one before (-1), if there is one. */
void td_lesson_walk_go(TdLessonWalk *self, int direction);

/* What the step says. td_lesson_walk_get_text returns "" in a quiz, td_lesson_walk_get_hint NULL if
 * there is none. td_lesson_walk_get_question returns NULL if the step asks nothing. Borrowed. */
const char *td_lesson_walk_get_text(TdLessonWalk *self);
const char *td_lesson_walk_get_hint(TdLessonWalk *self);
const td_question *td_lesson_walk_get_question(TdLessonWalk *self);

/* Of a question. td_lesson_walk_dup_choice has what decides it, if it is a task. */
char *td_lesson_walk_dup_prompt(TdLessonWalk *self);
char *td_lesson_walk_dup_facts(TdLessonWalk *self);
char *td_lesson_walk_dup_choice(TdLessonWalk *self, guint choice);

/* td_lesson_walk_get_form returns how people answer the question. */
td_answer_form td_lesson_walk_get_form(TdLessonWalk *self);

/* td_lesson_walk_read reads a number or a pattern that somebody typed; FALSE if it is none. */
gboolean td_lesson_walk_read(TdLessonWalk *self, const char *text, guint64 *value);

/* td_lesson_walk_answer gives an answer; n = 0 asks for the right one. Only the first one counts.
 */
void td_lesson_walk_answer(TdLessonWalk *self, const guint64 *values, guint n);

/* Of an answer. td_lesson_walk_was_wrong is FALSE too if somebody asked for the right one.
 * td_lesson_walk_dup_verdict says whether it is right, and the right one. */
gboolean td_lesson_walk_is_answered(TdLessonWalk *self);
gboolean td_lesson_walk_was_right(TdLessonWalk *self);
gboolean td_lesson_walk_was_wrong(TdLessonWalk *self);
char *td_lesson_walk_dup_verdict(TdLessonWalk *self);
char *td_lesson_walk_dup_reason(TdLessonWalk *self);

/* td_lesson_walk_dup_score returns "3 of 5 right", or "" before the first answer. */
char *td_lesson_walk_dup_score(TdLessonWalk *self);
