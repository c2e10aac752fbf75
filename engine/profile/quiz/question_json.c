/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/question_json.h"

#include "engine/profile/quiz/question_reasons.h"
#include "engine/profile/quiz/question_words.h"

#include <stdlib.h>
#include <string.h>

static void
write_id(td_json *json, const char *key, uint32_t id) {
  td_json_key(json, key);
  td_json_id(json, id);
}

static void
write_place(td_json *json, const td_question *question) {
  td_json_key(json, "position");
  td_json_u64(json, question->position);
  td_json_key(json, "answered");
  if (question->answered == TD_NO_CAUSE)
    td_json_null(json);
  else
    td_json_u64(json, question->answered);
  write_id(json, "node", question->node);
  write_id(json, "queue", question->queue);
  write_id(json, "graph_task", question->graph_task);
}

static void
write_facts(td_json *json, char *facts) {
  char *rest;
  td_json_key(json, "facts");
  td_json_begin_array(json);
  for (char *line = strtok_r(facts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    td_json_string(json, line);
  td_json_end_array(json);
  free(facts);
}

static void
write_choices(td_json *json, td_replay *replay, const td_question *question) {
  td_json_key(json, "choices");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < question->n_choices; i++) {
    td_json_begin_object(json);
    td_json_key(json, "value");
    td_json_u64(json, question->choices[i]);
    td_json_key(json, "text");
    td_json_take(json, td_question_choice(replay, question, question->choices[i]));
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
write_answer(td_json *json, const td_question *question) {
  td_json_key(json, "answer");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < question->n_key; i++)
    td_json_u64(json, question->key[i]);
  td_json_end_array(json);
}

void
td_question_write_members(td_json *json, td_replay *replay, const td_question *question) {
  td_json_key(json, "kind");
  td_json_string(json, td_question_kind_name(question->kind));
  write_place(json, question);
  td_json_key(json, "prompt");
  td_json_take(json, td_question_prompt(replay, question));
  write_facts(json, td_question_facts(replay, question));
  write_choices(json, replay, question);
  write_answer(json, question);
  td_json_key(json, "reason");
  td_json_take(json, td_question_reason(replay, question));
}
