/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All that commands say about a tape: the sentence of each event, why, check, the state as JSON,
 * the summary, and the comparison of the tape with itself. */
#include "app/print/state_json.h"
#include "engine/profile/chain/chain.h"
#include "engine/profile/chain/chain_words.h"
#include "engine/profile/check/check.h"
#include "engine/profile/diff/diff.h"
#include "engine/profile/diff/diff_by.h"
#include "engine/profile/model/whatif.h"
#include "engine/profile/order/order.h"
#include "engine/profile/quiz/question_reasons.h"
#include "engine/profile/quiz/question_words.h"
#include "engine/profile/quiz/quiz.h"
#include "engine/profile/report/critical_report.h"
#include "engine/profile/report/memory.h"
#include "engine/profile/report/report.h"
#include "engine/profile/summary.h"
#include "engine/profile/why/cause_words.h"
#include "engine/profile/why/conflicts.h"
#include "engine/profile/why/why.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/causes.h"
#include "engine/replay/replay.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

#define N_MOMENTS 8
#define N_QUESTIONS 14
#define N_EVENTS 256

static void
describe(td_replay *replay, uint64_t seq) {
  const td_catalog *catalog = td_replay_catalog(replay);
  td_tape *tape = td_replay_tape(replay);
  td_any_event event;
  uint64_t cause;
  if (td_tape_get(tape, seq, &event, NULL)) return;
  free(td_why_describe(catalog, tape, &event));
  free(td_why_describe_briefly(catalog, tape, &event));
  free(td_why_mean(catalog, tape, &event));
  if (event.event.kind == TD_EVENT_anomaly)
    td_cause_find(catalog, tape, seq, &event.anomaly, &cause);
}

static void
print_state(td_replay *replay, uint64_t seq) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  td_state_print_json(replay, seq, out);
  fclose(out);
  free(text);
}

static void
chain_back(td_replay *replay, uint64_t seq, uint32_t node) {
  td_error error = {0};
  td_chain chain;
  if (td_chain_make(replay, seq, node, &chain, &error) == TD_OK)
    for (uint32_t i = 0; i < chain.n; i++)
      free(td_chain_words(td_replay_catalog(replay), td_replay_tape(replay), &chain, i));
  td_chain_fini(&chain);
  td_error_clear(&error);
}

static void
explain(td_replay *replay, uint64_t seq) {
  td_error error = {0};
  char *text = NULL;
  if (td_why_at(replay, seq, &text, &error) == TD_OK) free(text);
  td_error_clear(&error);
  if (td_why_pop(replay, seq, &text, &error) == TD_OK) free(text);
  td_error_clear(&error);
  chain_back(replay, seq, TD_NONE);
  if (td_replay_seek(replay, seq + 1, NULL)) abort();
  for (uint32_t i = 0; i < td_replay_catalog(replay)->n_nodes && i < N_MOMENTS; i++)
    chain_back(replay, seq, td_replay_catalog(replay)->node_rows[i].id);
  for (uint32_t i = 0; i < td_replay_catalog(replay)->n_nodes && i < N_MOMENTS; i++)
    free(td_why_wait(replay, i, TD_NONE));
  print_state(replay, seq);
}

static void
report_cb(const td_violation *violation, void *data) {
  if (!violation->rule || !violation->text) abort();
}

static void
judge(td_tape *tape) {
  td_error error = {0};
  uint64_t n;
  td_check_run(tape, report_cb, NULL, &n, &error);
  td_error_clear(&error);
}

static void
sum_up(td_tape *tape, const td_catalog *catalog) {
  td_error error = {0};
  td_summary summary;
  if (td_summary_make(tape, catalog, &summary, &error) == TD_OK) td_summary_fini(&summary);
  td_error_clear(&error);
}

static void
report_by(td_tape *tape, td_report_by by) {
  td_error error = {0};
  td_report report;
  td_report_wish wish = {.by = by, .graph_task = TD_NONE};
  if (td_report_make(tape, &wish, &report, &error) == TD_OK && report.unattributed > report.wall)
    abort();
  for (uint32_t i = 0; i < report.n_rows; i++)
    if (report.rows[i].total < report.rows[i].self || report.rows[i].max < report.rows[i].p50)
      abort();
  td_report_fini(&report);
  td_error_clear(&error);
}

static void
report_all(td_tape *tape) {
  for (int by = 0; by < TD_N_REPORT_BYS; by++)
    report_by(tape, (td_report_by)by);
}

/* The engine's schedule on the tape's devices is what was replayed. */
static void
ask_what_if(td_tape *tape) {
  td_error error = {0};
  td_whatif whatif;
  td_virtual_plan plans[TD_N_SCHEDULES + 1];
  td_virtual_result results[TD_N_SCHEDULES + 1];
  for (int i = 0; i <= TD_N_SCHEDULES; i++)
    plans[i] = (td_virtual_plan){.schedule = (td_schedule)(i % TD_N_SCHEDULES),
                                 .n_workers = 1u + (uint32_t)i / TD_N_SCHEDULES,
                                 .n_devices = i < TD_N_SCHEDULES ? 0 : 3,
                                 .frees = i == TD_SCHEDULE_fifo ? 1u << TD_FREE_lock : 0};
  td_status status = td_whatif_make(tape, plans, TD_N_SCHEDULES + 1, TD_WHATIF_SKIP_WARMING,
                                    &whatif, results, &error);
  if (status == TD_OK && results[TD_SCHEDULE_engine].wall != whatif.replayed.wall) abort();
  td_error_clear(&error);
}

static void
find_path(td_tape *tape) {
  td_error error = {0};
  td_critical_report report;
  uint64_t sum = 0;
  td_status status = td_critical_report_make(tape, TD_NONE, &report, &error);
  for (uint32_t i = 0; i < report.n_parts; i++)
    sum += report.parts[i].ns;
  if (status == TD_OK && sum != report.length) abort();
  td_critical_report_fini(&report);
  td_error_clear(&error);
}

/* The holders at the peak are a part of it. */
static void
find_peak(td_tape *tape) {
  static td_memory memory;
  td_error error = {0};
  uint64_t sum = 0;
  td_status status = td_memory_make(tape, TD_NONE, NULL, &memory, &error);
  for (uint32_t i = 0; i < memory.peak.n_holders; i++)
    sum += memory.peak.holders[i].bytes;
  if (status == TD_OK && sum > td_memory_total(&memory.peak.level)) abort();
  td_memory_fini(&memory);
  td_error_clear(&error);
}

/* What is equal has no more nodes than were predicted. */
static void
predict(td_tape *tape) {
  const td_order_wish wish = {
      .graph_task = TD_NONE, .keeps_nodes = true, .n_explained = UINT32_MAX};
  td_error error = {0};
  td_order order;
  td_order_make(tape, &wish, &order, &error);
  for (uint32_t i = 0; i < order.n_kept; i++) {
    const td_order_pass *pass = &order.passes[i];
    if (pass->is_equal ? pass->n_popped > pass->n_predicted : !pass->divergence.text) abort();
  }
  td_order_fini(&order);
  td_error_clear(&error);
}

/* A tape never differs from itself. */
static void
compare(td_tape *tape) {
  const td_diff_wish wish = {.n_nodes = 10, .n_values = 10, .n_durations = 10};
  td_error error = {0};
  td_diff diff = {0};
  if (td_diff_make(tape, tape, &wish, &diff, &error) == TD_OK && diff.diverges) abort();
  td_diff_fini(&diff);
  td_error_clear(&error);
}

/* Nor does it have a key on one side alone. */
static void
compare_by(td_tape *tape) {
  for (int by = 0; by < TD_N_REPORT_BYS; by++) {
    td_error error = {0};
    td_diff_by diff = {0};
    bool done = td_diff_by_has((td_report_by)by) &&
                !td_diff_by_make(tape, tape, (td_report_by)by, &diff, &error);
    if (done && diff.n_passes_a != diff.n_passes_b) abort();
    for (uint32_t i = 0; i < diff.n_rows; i++)
      if (diff.rows[i].a.n_calls != diff.rows[i].b.n_calls) abort();
    td_diff_by_fini(&diff);
    td_error_clear(&error);
  }
}

/* The answer is one of the choices. */
static void
ask(td_replay *replay, const td_question *question) {
  bool has_key = question->n_choices == 0;
  for (uint32_t i = 0; i < question->n_choices; i++)
    has_key = has_key || question->choices[i] == question->key[0];
  if (!has_key || !td_question_is_right(question, question->key, question->n_key)) abort();
  const uint64_t wrong = question->choices[0];
  free(td_question_prompt(replay, question));
  free(td_question_facts(replay, question));
  free(td_question_answer(replay, question));
  free(td_question_reason(replay, question));
  free(td_question_correction(replay, question, &wrong, 1));
  for (uint32_t i = 0; i < question->n_choices; i++)
    free(td_question_choice(replay, question, question->choices[i]));
}

static void
quiz(td_replay *replay) {
  td_quiz *quiz;
  td_question question;
  if (td_quiz_new(replay, 1, &quiz, NULL) != TD_OK) return;
  for (uint32_t i = 0; i < N_QUESTIONS && td_quiz_next(quiz, &question); i++)
    ask(replay, &question);
  td_quiz_free(quiz);
}

static void
speak(td_replay *replay) {
  uint64_t first = td_replay_first(replay), n = td_replay_end(replay) - first;
  for (uint64_t i = 0; i < N_EVENTS && i < n; i++)
    describe(replay, first + (n <= N_EVENTS ? i : i * n / N_EVENTS));
  for (uint64_t i = 0; i < N_MOMENTS && i < n; i++)
    explain(replay, first + (i + 1) * n / (N_MOMENTS + 1));
  quiz(replay);
}

/* Whatever an outline claims, a cause comes before its problem. */
static void
tell_causes(td_tape *tape, const td_catalog *outline) {
  const td_catalog_mentions *problems = &outline->mentions[TD_LIST_problems];
  td_any_event problem;
  if (outline->n_causes > TD_CATALOG_CAUSES) abort();
  for (uint32_t i = 0; i < problems->n && i < N_EVENTS; i++) {
    uint64_t seq = problems->items[i].seq, cause = 0;
    if (td_tape_get(tape, seq, &problem, NULL)) continue;
    td_cause_known known =
        td_cause_look_up(outline->causes, outline->n_causes, tape, seq, &problem, &cause);
    if (known == TD_CAUSE_found && cause >= seq) abort();
    free(td_cause_words(outline, tape, known, cause));
  }
}

/* What led to problems, from the graph. */
static void
find_causes(td_replay *replay) {
  td_cause_list list = {0};
  uint32_t n;
  td_cause_list_read(&list, td_replay_catalog(replay), td_replay_tape(replay));
  td_catalog_cause *causes = td_cause_list_make(&list, &n);
  for (uint32_t i = 0; i < n; i++)
    if (causes[i].cause != TD_NO_CAUSE && causes[i].cause >= causes[i].seq) abort();
  free(causes);
  td_cause_list_fini(&list);
}

static void
sum_up_outline(td_tape *tape) {
  td_segment outline = td_tape_outline(tape);
  td_catalog *catalog;
  if (td_catalog_collect(tape, &outline, &catalog, NULL)) return;
  sum_up(tape, catalog);
  tell_causes(tape, catalog);
  td_catalog_free(catalog);
}

/* Of a tape that is cut: its outline, and the last segment. */
static void
speak_of_part(const char *path) {
  td_replay *replay;
  td_tape *tape;
  if (td_tape_open(path, &tape, NULL)) return;
  uint64_t n = td_tape_info_get(tape)->n_events;
  if (td_tape_n_segments(tape)) sum_up_outline(tape);
  td_segment last = td_tape_segment_at(tape, n ? n - 1 : 0);
  if (td_replay_new(tape, &last, NULL, NULL, &replay, NULL)) return;
  if (td_tape_n_segments(tape)) speak(replay);
  td_replay_close(replay);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  td_replay *replay;
  const char *path = td_fuzz_tape(0, data, n);
  if (td_replay_open(path, NULL, NULL, &replay, NULL)) return 0;
  td_tape *tape = td_replay_tape(replay);
  speak(replay);
  judge(tape);
  report_all(tape);
  ask_what_if(tape);
  find_path(tape);
  predict(tape);
  find_peak(tape);
  sum_up(tape, td_replay_catalog(replay));
  compare(tape);
  compare_by(tape);
  find_causes(replay);
  td_replay_close(replay);
  speak_of_part(path);
  return 0;
}
