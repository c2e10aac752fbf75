/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/quiz_ask.h"

#include "engine/profile/quiz/answer.h"
#include "engine/profile/quiz/question_reasons.h"
#include "engine/profile/quiz/question_words.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question ---- */

static void
print_text(char *text) {
  if (*text) printf("%s\n", text);
  free(text);
}

static void
print_facts(char *facts, bool is_numbered) {
  int n = 0;
  for (char *rest, *line = strtok_r(facts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    if (is_numbered)
      printf("  %d  %s\n", ++n, line);
    else
      printf("     %s\n", line);
  free(facts);
}

static void
print_choices(td_replay *replay, const td_question *question) {
  for (uint32_t i = 0; i < question->n_choices; i++) {
    char *text = td_question_choice(replay, question, question->choices[i]);
    printf("  %u  %s\n", i + 1, text);
    free(text);
  }
}

static void
print_question(td_replay *replay, const td_question *question) {
  bool is_numbered = td_question_tells_choices(question);
  print_text(td_question_prompt(replay, question));
  print_facts(td_question_facts(replay, question), is_numbered);
  if (!is_numbered) print_choices(replay, question);
}

static void
print_form(const td_question *question, const char *hint) {
  if (hint) printf("(? gives a hint) ");
  switch (td_question_form(question->kind)) {
  case TD_ANSWER_one:
    printf("Answer (1 to %u): ", question->n_choices);
    break;
  case TD_ANSWER_order:
    printf("Answer (%u numbers, first to last): ", question->n_choices);
    break;
  case TD_ANSWER_number:
    printf("Answer (a number): ");
    break;
  default:
    printf("Answer (a number, or a pattern such as 0x3f800000): ");
  }
  fflush(stdout);
}

/* ---- the answer ---- */

static bool
read_word(const td_question *question, const char *word, uint64_t *value) {
  td_answer_form form = td_question_form(question->kind);
  if (!td_answer_read(form, word, value)) return false;
  if (form > TD_ANSWER_order) return true;
  if (*value == 0 || *value > question->n_choices) return false;
  *value = question->choices[*value - 1];
  return true;
}

/* Words are apart by spaces or commas. */
static bool
read_answer(const td_question *question, char *line, uint64_t *answer, uint32_t *n) {
  bool is_order = td_question_form(question->kind) == TD_ANSWER_order;
  uint32_t wanted = is_order ? question->n_choices : 1;
  char *rest, *word = strtok_r(line, " \t,\n", &rest);
  for (*n = 0; word && *n < wanted; word = strtok_r(NULL, " \t,\n", &rest))
    if (!read_word(question, word, &answer[(*n)++])) return false;
  return !word && *n == wanted;
}

static void
print_verdict(td_replay *replay, const td_question *question, const uint64_t *answer, uint32_t n,
              bool is_right) {
  char *right = td_question_answer(replay, question);
  if (is_right)
    printf("Right.\n");
  else
    printf("%s: %s.\n", n ? "Wrong. The answer is" : "The answer is", right);
  free(right);
  if (!is_right) print_text(td_question_correction(replay, question, answer, n));
  print_text(td_question_reason(replay, question));
}

/* Returns false at the end of the input. */
static bool
ask(const td_question *question, const char *hint, uint64_t *answer, uint32_t *n) {
  char *line = NULL;
  size_t room = 0;
  bool is_read = false, goes_on = true;
  while (!is_read && goes_on) {
    print_form(question, hint);
    goes_on = getline(&line, &room, stdin) >= 0;
    if (!goes_on) break;
    *n = 0;
    is_read = *g_strstrip(line) == '\0' || read_answer(question, line, answer, n);
    if (!is_read && hint && strcmp(line, "?") == 0)
      printf("%s\n", hint);
    else if (!is_read)
      printf("That is no answer. ");
  }
  free(line);
  return goes_on;
}

td_asked
td_quiz_ask(td_replay *replay, const td_question *question, const char *hint) {
  uint64_t answer[TD_QUESTION_CHOICES];
  uint32_t n = 0;
  print_question(replay, question);
  if (!ask(question, hint, answer, &n)) return TD_ASKED_OVER;
  bool is_right = td_question_is_right(question, answer, n);
  print_verdict(replay, question, answer, n, is_right);
  return is_right ? TD_ASKED_RIGHT : TD_ASKED_WRONG;
}

void
td_quiz_print_solved(td_replay *replay, const td_question *question) {
  print_question(replay, question);
  print_verdict(replay, question, NULL, 0, false);
}
