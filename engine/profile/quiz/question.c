/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question.h"

#include "engine/base/translate.h"

#include <string.h>

static const struct {
  const char *word, *title;
  td_answer_form form;
} rows[] = {
#define TD_QUESTION(name, word, answer, title) {word, title, TD_ANSWER_##answer},
#include "engine/profile/quiz/question.def"
#undef TD_QUESTION
};

const char *
td_question_kind_name(td_question_kind kind) {
  return rows[kind].word;
}

td_question_kind
td_question_kind_find(const char *word) {
  td_question_kind kind = 0;
  while (kind < TD_N_QUESTION_KINDS && strcmp(rows[kind].word, word) != 0)
    kind++;
  return kind;
}

const char *
td_question_kind_title(td_question_kind kind) {
  return td_translate(rows[kind].title);
}

td_answer_form
td_question_form(td_question_kind kind) {
  return rows[kind].form;
}

bool
td_question_is_right(const td_question *question, const uint64_t *answer, uint32_t n) {
  return n == question->n_key && memcmp(answer, question->key, n * sizeof *answer) == 0;
}
