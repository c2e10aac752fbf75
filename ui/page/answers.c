/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/answers.h"

#include "ui/geometry/format.h"
#include "ui/page/facts.h"

static void
write_answer(const td_answer *answer, td_json *json) {
  td_json_begin_object(json);
  td_page_member(json, "text", answer->text);
  td_page_member(json, "detail", answer->detail);
  td_page_member(json, "line", answer->line);
  td_json_key(json, "figure");
  td_json_take(json, td_format_figure(answer->ns, answer->bytes));
  if (answer->share >= 0) {
    td_json_key(json, "share");
    td_json_double(json, answer->share);
  }
  if (answer->seq != UINT64_MAX) {
    td_json_key(json, "seq");
    td_json_u64(json, answer->seq);
  }
  td_json_end_object(json);
}

static void
write_topic(const td_answers *answers, td_answer_topic topic, td_json *json) {
  td_json_begin_object(json);
  td_page_member(json, "topic", td_answer_topic_name(topic));
  td_page_member(json, "title", td_answer_topic_title(topic));
  td_json_key(json, "left_out");
  td_json_u64(json, answers->n_more[topic]);
  td_json_key(json, "items");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < answers->n; i++)
    if (answers->items[i].topic == topic) write_answer(&answers->items[i], json);
  td_json_end_array(json);
  td_json_end_object(json);
}

void
td_page_answers_write(const td_answers *answers, td_json *json) {
  td_json_begin_array(json);
  for (td_answer_topic topic = 0; topic < TD_N_ANSWER_TOPICS; topic++)
    write_topic(answers, topic, json);
  td_json_end_array(json);
}
