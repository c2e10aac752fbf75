/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads what people type as an answer. Any thread. */
#pragma once

#include "engine/profile/quiz/question.h"

/* td_answer_read reads a number, or for TD_ANSWER_pattern a pattern such as 0x3f800000 or a number
 * with a point. False if the text is neither. Blanks at its ends do not count. */
bool td_answer_read(td_answer_form form, const char *text, uint64_t *value);
