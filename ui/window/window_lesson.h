/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lessons and quizzes in the window. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_lessons_install lists the lessons on the start page, and adds the action win.lesson,
 * which begins one. Call it once for a window. */
void td_window_lessons_install(TdWindow *window);

/* td_window_take_lesson records the script of a lesson, opens its tape and begins the lesson. */
void td_window_take_lesson(TdWindow *window, const char *name);

/* td_window_edit_lesson opens the learner's own copy of the script in an editor.
 * td_window_repeat_lesson runs the script again, and goes on at the same step.
 * td_window_restore_lesson forgets the copy, and does so too. They do nothing without a lesson. */
void td_window_edit_lesson(TdWindow *window);
void td_window_repeat_lesson(TdWindow *window);
void td_window_restore_lesson(TdWindow *window);

/* td_window_take_quiz begins a quiz on the tape that is open. */
void td_window_take_quiz(TdWindow *window);

/* td_window_go_on answers, or goes to the next step. td_window_toggle_lecture makes the texts of
 * the lesson large and the pointer a red dot, or takes both back. */
void td_window_go_on(TdWindow *window);
void td_window_toggle_lecture(TdWindow *window);
