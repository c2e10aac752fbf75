/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/answers/answers.h"

#include "app/command.h"
#include "app/common/columns.h"
#include "app/print/json_members.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <math.h>

/* ---- JSON ---- */

static void
write_answer(td_json *json, const td_answer *answer) {
  td_json_begin_object(json);
  td_member_string(json, "topic", td_answer_topic_name(answer->topic));
  td_member_string(json, "text", answer->text);
  td_member_text(json, "detail", answer->detail);
  td_member_known(json, "ns", answer->ns, answer->ns > 0);
  td_member_known(json, "bytes", answer->bytes, answer->bytes > 0);
  td_json_key(json, "share");
  td_json_double(json, answer->share < 0 ? NAN : answer->share);
  td_member_known(json, "seq", answer->seq, answer->seq != UINT64_MAX);
  td_member_id(json, "node", answer->node);
  td_member_id(json, "step", answer->step);
  td_member_id(json, "graph_task", answer->graph_task);
  td_member_text(json, "line", answer->line);
  td_json_end_object(json);
}

static void
print_json(const td_answers *answers) {
  td_json writer, *json = &writer;
  td_json_init(json, stdout);
  td_json_begin_object(json);
  td_json_key(json, "left_out");
  td_json_begin_object(json);
  for (td_answer_topic topic = 0; topic < TD_N_ANSWER_TOPICS; topic++)
    td_member_u64(json, td_answer_topic_name(topic), answers->n_more[topic]);
  td_json_end_object(json);
  td_json_key(json, "answers");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < answers->n; i++)
    write_answer(json, &answers->items[i]);
  td_json_end_array(json);
  td_json_end_object(json);
  td_json_newline(json);
}

/* ---- text ---- */

static const char *const mores[] = {[TD_ANSWER_wrong] = "findings",
                                    [TD_ANSWER_time] = "report",
                                    [TD_ANSWER_waits] = "report --contention",
                                    [TD_ANSWER_memory] = "report --memory",
                                    [TD_ANSWER_unlooked] = "findings"};

static void
print_figure(const td_answer *answer) {
  g_autofree char *figure = td_format_figure(answer->ns, answer->bytes);
  g_autofree char *share =
      answer->share < 0 ? g_strdup("") : g_strdup_printf("%.0f %%", 100 * answer->share);
  td_column_print(figure, 9);
  td_column_print(share, 5);
}

/* "  event 343, net.py:7", as far as there is one. */
static void
print_place(const td_answer *answer) {
  if (answer->seq != UINT64_MAX) printf("  (event %" PRIu64, answer->seq);
  if (answer->line) printf("%s%s", answer->seq != UINT64_MAX ? ", " : "  (", answer->line);
  if (answer->seq != UINT64_MAX || answer->line) putchar(')');
}

static void
print_answer(const td_answer *answer) {
  print_figure(answer);
  fputs(answer->text, stdout);
  print_place(answer);
  putchar('\n');
  bool is_told = answer->topic == TD_ANSWER_wrong && *answer->detail;
  if (is_told) printf("%18s%s\n", "", answer->detail);
}

static void
print_text(const char *path, const td_answers *answers) {
  printf("%s\n", path);
  for (uint32_t i = 0; i < answers->n; i++) {
    td_answer_topic topic = answers->items[i].topic;
    if (i == 0 || topic != answers->items[i - 1].topic)
      printf("\n%s\n", td_answer_topic_title(topic));
    print_answer(&answers->items[i]);
    bool is_last = i + 1 == answers->n || answers->items[i + 1].topic != topic;
    if (is_last && answers->n_more[topic])
      printf("%18s%u more: tapedeck %s %s\n", "", answers->n_more[topic], mores[topic], path);
  }
  printf("\nMore of each: tapedeck findings, report, report --contention, report --memory\n");
}

int
td_command_answers(int argc, char **argv) {
  gboolean as_json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (!td_command_parse("answers", entries, false, 1, 1, &argc, &argv, &status)) return status;
  td_error error = {0};
  td_tape *tape = NULL;
  td_answers answers = {0};
  td_status made = td_tape_open(argv[1], &tape, &error);
  if (made == TD_OK) made = td_answers_make(tape, &answers, &error);
  if (made == TD_OK && as_json) print_json(&answers);
  if (made == TD_OK && !as_json) print_text(argv[1], &answers);
  if (made == TD_OK) made = td_tape_check_readable(tape, &error);
  status = answers.is_bad ? TD_EXIT_BAD : TD_EXIT_OK;
  td_answers_fini(&answers);
  td_tape_close(tape);
  return made == TD_OK ? status : td_command_file_error(argv[1], &error);
}
