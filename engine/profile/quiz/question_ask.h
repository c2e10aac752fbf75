/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes a question about a replay's present position. One thread at a time. */
#pragma once

#include "engine/profile/quiz/question.h"

/* What somebody wants to ask. Some kinds need a node, the others ignore it. */
typedef struct td_question_wish {
  td_question_kind kind;
  uint32_t node; /* of COUNT, THREAD, QUEUE, POLICY and BITS */
} td_question_wish;

/* td_question_ask makes a question about the replay's present position. POP stands right before the
 * next pop, so `position` may be later. TD_OUT_OF_RANGE with the reason: the moment does not have
 * that question, or not more than one possible answer. The replay stays where it is. */
td_status td_question_ask(td_replay *replay, const td_question_wish *wish, td_question *question,
                          td_error *error);
