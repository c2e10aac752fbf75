/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/quiz.h"

#include "app/command.h"
#include "app/commands/quiz_ask.h"
#include "app/commands/tape_at.h"
#include "app/common/shell_name.h"
#include "app/print/json_members.h"
#include "engine/profile/quiz/question_json.h"

#include <inttypes.h>

#define QUESTIONS_MAX 1000

typedef struct options {
  int n;
  gint64 seed;
  gboolean is_solved, as_json;
} options;

typedef struct score {
  uint32_t n_asked, n_right, streak, longest;
  uint32_t mistakes[TD_N_QUESTION_KINDS];
} score;

static void
count(score *score, td_question_kind kind, bool is_right) {
  score->n_asked++;
  score->n_right += is_right;
  score->streak = is_right ? score->streak + 1 : 0;
  score->longest = MAX(score->longest, score->streak);
  score->mistakes[kind] += !is_right;
}

static void
print_score(const score *score, const options *options, const char *path) {
  printf("\n%u of %u right, longest streak %u.\n", score->n_right, score->n_asked, score->longest);
  const char *before = "Mistakes: ";
  for (td_question_kind kind = 0; kind < TD_N_QUESTION_KINDS; kind++) {
    if (!score->mistakes[kind]) continue;
    printf("%s%s %u", before, td_question_kind_title(kind), score->mistakes[kind]);
    before = ", ";
  }
  if (*before == ',') printf(".\n");
  g_autofree char *name = td_shell_name(path);
  printf("The same questions again: tapedeck quiz %s -n %d --seed %" PRId64 "\n", name, options->n,
         options->seed);
}

static void
print_head(const td_question *question, int number, const options *options) {
  printf("%sQuestion %d of %d: %s, before event %" PRIu64 "\n", number > 1 ? "\n" : "", number,
         options->n, td_question_kind_title(question->kind), question->position);
}

static void
ask_all(td_replay *replay, td_quiz *quiz, const options *options, const char *path) {
  score score = {0};
  td_question question;
  for (int i = 1; i <= options->n && td_quiz_next(quiz, &question); i++) {
    print_head(&question, i, options);
    if (options->is_solved) {
      td_quiz_print_solved(replay, &question);
      continue;
    }
    td_asked asked = td_quiz_ask(replay, &question, NULL);
    if (asked == TD_ASKED_OVER) break;
    count(&score, question.kind, asked == TD_ASKED_RIGHT);
  }
  if (!options->is_solved) print_score(&score, options, path);
}

static void
write_all(td_replay *replay, td_quiz *quiz, const options *options) {
  td_json writer, *json = &writer;
  td_question question;
  td_json_init(json, stdout);
  td_json_begin_object(json);
  td_member_u64(json, "seed", (uint64_t)options->seed);
  td_json_key(json, "questions");
  td_json_begin_array(json);
  for (int i = 0; i < options->n && td_quiz_next(quiz, &question); i++) {
    td_json_begin_object(json);
    td_question_write_members(json, replay, &question);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
  td_json_newline(json);
}

static int
run(td_tape_at *at, const options *options) {
  td_error error = {0};
  td_quiz *quiz;
  if (td_quiz_new(at->replay, (uint64_t)options->seed, &quiz, &error) != TD_OK) {
    int status = td_command_file_error(at->path, &error);
    td_tape_at_close(at);
    return status;
  }
  if (options->as_json)
    write_all(at->replay, quiz, options);
  else
    ask_all(at->replay, quiz, options, at->path);
  td_quiz_free(quiz);
  return td_tape_at_conclude(at);
}

int
td_command_quiz(int argc, char **argv) {
  options options = {.n = 10, .seed = g_random_int_range(0, 1000000)};
  const GOptionEntry own[] = {
      {"n", 'n', 0, G_OPTION_ARG_INT, &options.n, "How many questions (default: 10)", "N"},
      {"seed", 0, 0, G_OPTION_ARG_INT64, &options.seed, "Ask the questions of this number again",
       "N"},
      {"answers", 0, 0, G_OPTION_ARG_NONE, &options.is_solved,
       "Print the questions with their answers", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.as_json,
       "Print questions and answers as one JSON document", NULL},
      {0}};
  td_tape_at at;
  int status;
  if (!td_tape_at_open(&at, "quiz", own, argc, argv, &status)) return status;
  if (options.n >= 1 && options.n <= QUESTIONS_MAX && options.seed >= 0) return run(&at, &options);
  td_tape_at_close(&at);
  return options.seed < 0 ? td_command_bad_usage("quiz", "--seed: must be 0 or more")
                          : td_command_bad_usage("quiz", "-n: must be from 1 to %d", QUESTIONS_MAX);
}
