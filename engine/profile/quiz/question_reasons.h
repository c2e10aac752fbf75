/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Why the answer to a question is right, and another one is not. In the reader's language. The
 * caller frees all texts. All functions put the replay back where it was. One thread at a time. */
#pragma once

#include "engine/profile/quiz/question.h"

/* td_question_reason says why the answer is right. */
char *td_question_reason(td_replay *replay, const td_question *question);

/* td_question_correction says of a wrong answer what stands against it, and what would have to be
 * true for it. "" if there is nothing to add to the reason. */
char *td_question_correction(td_replay *replay, const td_question *question, const uint64_t *answer,
                             uint32_t n);
