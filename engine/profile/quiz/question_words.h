/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people read of a question: the question itself, what decides it, its choices. In the
 * reader's language. The caller frees all texts. All functions put the replay back where
 * it was. One thread at a time. */
#pragma once

#include "engine/profile/quiz/question.h"

/* td_question_prompt returns the question itself: "Which node does thread main pop next from queue
 * 0?" */
char *td_question_prompt(td_replay *replay, const td_question *question);

/* td_question_facts returns what decides it, a line each: of a pop, what is ready and what waits;
 * of a count, the edges. "" if there is nothing to add. It does not say the answer. */
char *td_question_facts(td_replay *replay, const td_question *question);

/* td_question_tells_choices tells whether each line of the facts is about one choice, in their
 * order.
 */
bool td_question_tells_choices(const td_question *question);

/* td_question_choice returns the name of a choice. */
char *td_question_choice(const td_replay *replay, const td_question *question, uint64_t choice);

/* td_question_answer returns the right answer in words. */
char *td_question_answer(const td_replay *replay, const td_question *question);
