/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A text about the moment of a question, as it grows. Private to engine/profile/quiz. One thread.
 */
#pragma once

#include "engine/profile/quiz/question.h"
#include "engine/profile/why/story.h"

typedef struct td_telling {
  td_replay *replay; /* (borrowed) at the moment of the question until the end */
  uint64_t back;     /* where the replay was */
  td_story story;    /* (owned) writes the text */
  char *text;
  size_t size;
} td_telling;

/* td_telling_begin moves the replay to the question. False if it cannot. td_telling_end moves it
 * back, and returns the text. The caller frees. */
bool td_telling_begin(td_telling *telling, td_replay *replay, const td_question *question);
char *td_telling_end(td_telling *telling);

/* td_telling_find_task returns the task of a node in the question's pass. If it has none there, it
 * is one of another pass: both may lie in one queue. NULL if it has none. */
const td_task_now *td_telling_find_task(const td_story *story, const td_question *question,
                                        uint32_t node);
