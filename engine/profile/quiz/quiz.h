/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A quiz: questions about the moments of any tape, drawn by a seed. The same tape and seed give the
 * same questions. One thread at a time. */
#pragma once

#include "engine/profile/quiz/question.h"

typedef struct td_quiz td_quiz;

/* td_quiz_new reads the events of a replay once, to know where questions are. It borrows the
 * replay, and puts it back where it was. TD_OUT_OF_RANGE if no moment has a question. */
td_status td_quiz_new(td_replay *replay, uint64_t seed, td_quiz **quiz, td_error *error);
void td_quiz_free(td_quiz *quiz);

/* td_quiz_next draws the next question. Kinds take turns, so that each kind comes that the tape
 * has. No moment has two questions, and nobody has to guess what a heap does with equal tasks.
 * False if there is none left. */
bool td_quiz_next(td_quiz *quiz, td_question *question);
