/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The head of a page: the answers about the whole tape, as `tapedeck answers` has them. Private to
 * ui/page. One thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/answers/answers.h"

/* td_page_answers_write writes an array with an object for each topic. */
void td_page_answers_write(const td_answers *answers, td_json *json);
