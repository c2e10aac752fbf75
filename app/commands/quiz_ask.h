/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Asks a question in a terminal: prints it, reads a line of standard input, and says what is right
 * and why. Main thread. */
#pragma once

#include "engine/profile/quiz/question.h"

typedef enum td_asked { TD_ASKED_RIGHT, TD_ASKED_WRONG, TD_ASKED_OVER } td_asked;

/* td_quiz_ask asks again if it cannot read an answer. An empty line is a wrong answer, and "?" asks
 * for the hint, if there is one. TD_ASKED_OVER: the input ended. */
td_asked td_quiz_ask(td_replay *replay, const td_question *question, const char *hint);

/* td_quiz_print_solved prints the question with its answer and the reason. */
void td_quiz_print_solved(td_replay *replay, const td_question *question);
