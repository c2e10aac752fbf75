/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/lesson.h"

#include "engine/profile/quiz/question_json.h"
#include "engine/profile/quiz/question_reasons.h"
#include "engine/profile/quiz/question_words.h"

#include <stdlib.h>

/* Of a count, a page knows what to say to the numbers below. */
#define COUNTS 64

typedef struct writing {
  td_json *json;
  td_replay *replay;
  const td_page_nodes *nodes;
} writing;

static void
write_correction(const writing *self, const td_question *question, uint64_t value) {
  char *text = td_question_correction(self->replay, question, &value, 1);
  if (*text) {
    td_json_begin_array(self->json);
    td_json_u64(self->json, value);
    td_json_string(self->json, text);
    td_json_end_array(self->json);
  }
  free(text);
}

/* What stands against each wrong answer, if there is something to say. */
static void
write_corrections(const writing *self, const td_question *question) {
  td_json_key(self->json, "corrections");
  td_json_begin_array(self->json);
  for (uint32_t i = 0; i < question->n_choices; i++)
    write_correction(self, question, question->choices[i]);
  for (uint64_t count = 0; question->kind == TD_QUESTION_COUNT && count < COUNTS; count++)
    write_correction(self, question, count);
  td_json_end_array(self->json);
}

static void
write_question(const writing *self, const td_question *question) {
  static const char *const forms[] = {[TD_ANSWER_one] = "one",
                                      [TD_ANSWER_order] = "order",
                                      [TD_ANSWER_number] = "number",
                                      [TD_ANSWER_pattern] = "pattern"};
  td_json_begin_object(self->json);
  td_question_write_members(self->json, self->replay, question);
  td_json_key(self->json, "form");
  td_json_string(self->json, forms[td_question_form(question->kind)]);
  td_json_key(self->json, "tells_choices");
  td_json_bool(self->json, td_question_tells_choices(question));
  td_json_key(self->json, "answer_text");
  td_json_take(self->json, td_question_answer(self->replay, question));
  write_corrections(self, question);
  td_json_end_object(self->json);
}

static void
write_step(const writing *self, const td_page_step *step, uint64_t first) {
  td_json *json = self->json;
  td_json_begin_object(json);
  td_json_key(json, "text");
  td_json_string(json, step->text);
  td_json_key(json, "hint");
  td_json_string(json, step->hint);
  td_json_key(json, "position");
  td_json_u64(json, step->position > first ? step->position - first : 0);
  td_json_key(json, "shown");
  td_json_begin_array(json);
  for (size_t i = 0; i < step->n_shown; i++) {
    uint32_t node = td_page_nodes_find(self->nodes, step->shown[i]);
    if (node != TD_NONE) td_json_u64(json, node);
  }
  td_json_end_array(json);
  td_json_key(json, "question");
  if (step->question)
    write_question(self, step->question);
  else
    td_json_null(json);
  td_json_end_object(json);
}

void
td_page_lesson_write(const td_page_lesson *lesson, td_replay *replay, const td_page_nodes *nodes,
                     uint64_t first, td_json *json) {
  writing self = {json, replay, nodes};
  td_json_begin_object(json);
  td_json_key(json, "title");
  td_json_string(json, lesson->title);
  td_json_key(json, "steps");
  td_json_begin_array(json);
  for (size_t i = 0; i < lesson->n_steps; i++)
    write_step(&self, &lesson->steps[i], first);
  td_json_end_array(json);
  td_json_end_object(json);
}
