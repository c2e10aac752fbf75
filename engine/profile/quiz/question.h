/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A question about a moment of a tape, and its answer. The tape itself has the answer: it is in the
 * state at that moment, or in the event that comes next. So nobody types in an answer, and a
 * question cannot be wrong about its tape. One thread at a time. */
#pragma once

#include "engine/replay/replay.h"

typedef enum td_question_kind {
#define TD_QUESTION(name, word, answer, title) TD_QUESTION_##name,
#include "engine/profile/quiz/question.def"
#undef TD_QUESTION
  TD_N_QUESTION_KINDS
} td_question_kind;

/* What people answer: see question.def. */
typedef enum td_answer_form {
  TD_ANSWER_one,
  TD_ANSWER_order,
  TD_ANSWER_number,
  TD_ANSWER_pattern,
} td_answer_form;

/* td_question_kind_name returns "pop", "count", ... td_question_kind_find returns the kind of a
 * word, or TD_N_QUESTION_KINDS. td_question_kind_title returns the title, translated. */
const char *td_question_kind_name(td_question_kind kind);
td_question_kind td_question_kind_find(const char *word);
const char *td_question_kind_title(td_question_kind kind);
td_answer_form td_question_form(td_question_kind kind);

/* Most choices of a question. If there are more, the question leaves some out, never the answer. */
#define TD_QUESTION_CHOICES 8

/* A choice is a node, a thread, a queue or a td_queue_order: as the kind says. */
typedef struct td_question {
  td_question_kind kind;
  uint64_t position; /* where the replay stands for it: after event position - 1 */
  uint64_t answered; /* the event that answers it; or TD_NO_CAUSE: the state answers it */
  uint32_t node, queue, graph_task; /* that it is about, or TD_NONE */
  uint64_t choices[TD_QUESTION_CHOICES];
  uint32_t n_choices;
  uint64_t key[TD_QUESTION_CHOICES]; /* the answer: one value, or all choices in their order */
  uint32_t n_key;
} td_question;

/* td_question_is_right tells whether `n` values are the answer. */
bool td_question_is_right(const td_question *question, const uint64_t *answer, uint32_t n);
