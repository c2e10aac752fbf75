/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A question as JSON, with its answer. One thread at a time. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/quiz/question.h"

/* td_question_write_members writes the members of `questions[]` of the schema `quiz` into an object
 * that is open. The replay stays where it is. */
void td_question_write_members(td_json *json, td_replay *replay, const td_question *question);
