/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/answers/answers.h"

#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/recorder_notes.h"
#include "engine/profile/report/contention.h"
#include "engine/profile/report/memory.h"
#include "engine/profile/report/report.h"
#include "engine/profile/sentence.h"

#include <stdlib.h>

/* What takes less of the passes than this is no answer. */
#define SHARE_TOLD 0.05

static const struct {
  const char *name, *title;
} topics[] = {
#define X(name, title) [TD_ANSWER_##name] = {#name, title},
    TD_ANSWER_TOPICS(X)
#undef X
};

const char *
td_answer_topic_name(td_answer_topic topic) {
  return topics[topic].name;
}

const char *
td_answer_topic_title(td_answer_topic topic) {
  return td_translate(topics[topic].title);
}

static td_answer
answer_of(td_answer_topic topic, char *text) {
  return (td_answer){.topic = topic,
                     .text = td_line_make(text, TD_TEXT_SHOWN),
                     .detail = td_dup_string(""),
                     .share = -1,
                     .seq = UINT64_MAX,
                     .node = TD_NONE,
                     .step = TD_NONE,
                     .graph_task = TD_NONE};
}

static void
fini(td_answer *answer) {
  free(answer->text);
  free(answer->detail);
  free(answer->line);
}

static uint32_t
count(const td_answers *self, td_answer_topic topic) {
  uint32_t n = 0;
  for (uint32_t i = self->n; i > 0 && self->items[i - 1].topic == topic; i--)
    n++;
  return n;
}

/* Topics come one after another. */
static void
add(td_answers *self, td_answer answer) {
  if (count(self, answer.topic) == TD_ANSWERS_MAX) {
    self->n_more[answer.topic]++;
    fini(&answer);
    return;
  }
  TD_GROW(self->items, self->n, self->capacity);
  self->items[self->n++] = answer;
}

static void
add_plain(td_answers *self, td_answer_topic topic, td_sentence sentence) {
  add(self, answer_of(topic, td_dup_string(td_sentence_text(sentence))));
}

/* What is not on the tape may have happened, if the tape lacks events. */
static void
add_absence(td_answers *self, td_answer_topic topic, td_sentence sentence, td_sentence in_part) {
  add_plain(self, topic, self->lacks_events ? in_part : sentence);
}

/* ---- what is wrong, and what was not looked for ---- */

static char *
name_finding(const td_finding *finding) {
  const char *title = td_finding_kind_title(finding->kind);
  if (finding->n < 2) return td_dup_string(title);
  return td_said(NULL, TD_SAY_answer_times, td_with_text("title", title),
                 td_with_number("n", finding->n));
}

static void
add_finding(td_answers *self, const td_finding *finding) {
  td_answer answer = answer_of(TD_ANSWER_wrong, name_finding(finding));
  free(answer.detail);
  answer.detail = td_dup_string(finding->text);
  answer.line = finding->line ? td_dup_string(finding->line) : NULL;
  answer.seq = finding->seq;
  answer.node = finding->node;
  answer.step = finding->step;
  answer.graph_task = finding->graph_task;
  add(self, answer);
}

static void
add_failed(td_answers *self, int32_t status) {
  char *number = td_format("%d", status);
  add(self, answer_of(TD_ANSWER_wrong,
                      td_said(NULL, TD_SAY_answer_failed, td_with_text("status", number))));
  free(number);
}

static void
tell_wrong(td_answers *self, const td_findings *findings) {
  self->is_bad = findings->n > 0;
  for (uint32_t i = 0; i < findings->n; i++)
    add_finding(self, &findings->items[i]);
  self->n_more[TD_ANSWER_wrong] += (uint32_t)findings->n_left_out;
  if (findings->n) return;
  if (findings->status)
    add_failed(self, findings->status);
  else
    add_absence(self, TD_ANSWER_wrong, TD_SAY_answer_nothing, TD_SAY_answer_nothing_in_part);
}

static void
add_note(td_answers *self, const char *note) {
  if (*note) add(self, answer_of(TD_ANSWER_unlooked, td_dup_string(td_translate(note))));
}

/* td_findings_search_note tells of NaN and Inf. */
static void
add_unjudged(td_answers *self, const td_findings *findings) {
  char *kinds = NULL;
  uint32_t n = 0;
  for (td_finding_kind kind = TD_FINDING_nonfinite + 1; kind < TD_N_FINDING_KINDS; kind++) {
    if (!findings->unjudged[kind]) continue;
    kinds = td_list_add(kinds, TD_SAY_clauses_next, td_dup_string(td_finding_kind_title(kind)));
    n++;
  }
  if (!n) return;
  td_answer answer =
      answer_of(TD_ANSWER_unlooked, td_said(NULL, TD_SAY_answer_unjudged, td_with_number("n", n)));
  free(answer.detail);
  answer.detail = kinds;
  add(self, answer);
}

static void
tell_unlooked(td_answers *self, const td_tape_info *info, const td_findings *findings) {
  uint32_t work = 0;
  if (info->damage)
    add(self, answer_of(TD_ANSWER_unlooked, td_said(NULL, TD_SAY_answer_damaged,
                                                    td_with_text("damage", info->damage))));
  else if (info->n_dropped)
    add(self, answer_of(TD_ANSWER_unlooked, td_said(NULL, TD_SAY_answer_dropped,
                                                    td_with_number("n", info->n_dropped))));
  add_note(self, td_findings_search_note(findings));
  for (const char *note; (note = td_recorder_notes_next(findings->recorder_stopped, &work));)
    add_note(self, note);
  if (findings->lacks_lines) add_plain(self, TD_ANSWER_unlooked, TD_SAY_answer_no_lines);
  add_unjudged(self, findings);
}

/* ---- where the time goes ---- */

static double
share_of(const td_report *report, double ns) {
  return report->wall ? ns / (double)report->wall : 0;
}

static void
add_passes(td_answers *self, const td_report *report) {
  td_answer answer = answer_of(
      TD_ANSWER_time, td_said(NULL, TD_SAY_answer_passes, td_with_number("n", report->n_passes)));
  answer.ns = report->wall;
  add(self, answer);
}

static void
add_function(td_answers *self, const td_report *report, const td_report_row *row) {
  td_answer answer =
      answer_of(TD_ANSWER_time, td_said(NULL, TD_SAY_answer_calls, td_with_text("name", row->key),
                                        td_with_number("n", row->n)));
  answer.ns = row->self;
  answer.share = share_of(report, row->of_wall);
  if (row->longest.node != TD_NONE) {
    answer.node = row->longest.node;
    answer.seq = row->longest.begin_seq;
  }
  add(self, answer);
}

/* Functions have rows of their own. */
static td_wall_part
largest_part(const td_report *report) {
  td_wall_part largest = TD_WALL_functions + 1;
  for (td_wall_part part = largest; part < TD_N_WALL_PARTS; part++)
    if (report->of_wall[part] > report->of_wall[largest]) largest = part;
  return largest;
}

static void
add_part(td_answers *self, const td_report *report, td_wall_part part) {
  const char *words = td_translate(td_wall_part_words(part));
  td_answer answer =
      answer_of(TD_ANSWER_time, td_said(NULL, TD_SAY_answer_part, td_with_text("part", words)));
  answer.ns = (uint64_t)report->of_wall[part];
  answer.share = share_of(report, report->of_wall[part]);
  add(self, answer);
}

/* The passes, the two functions with the most time, and what is more than these but no function. */
static void
tell_time(td_answers *self, const td_report *report) {
  if (!report->n_passes) {
    add_absence(self, TD_ANSWER_time, TD_SAY_answer_no_passes, TD_SAY_answer_no_passes_in_part);
    return;
  }
  add_passes(self, report);
  if (report->known != TD_knowledge_observed) {
    add_plain(self, TD_ANSWER_time, TD_SAY_answer_no_times);
    return;
  }
  td_wall_part part = largest_part(report);
  bool has_part = share_of(report, report->of_wall[part]) >= SHARE_TOLD;
  uint32_t n = TD_MIN(report->n_rows, TD_ANSWERS_MAX - 1u - has_part);
  for (uint32_t i = 0; i < n; i++)
    if (share_of(report, report->rows[i].of_wall) >= SHARE_TOLD || i == 0)
      add_function(self, report, &report->rows[i]);
  if (has_part) add_part(self, report, part);
}

/* ---- who waits ---- */

static void
add_lock(td_answers *self, const td_contention *contention, const td_contended_lock *lock) {
  const td_lock_blame *blame = lock->n_blames ? &contention->locks.blames[lock->first_blame] : NULL;
  bool has_holder = blame && *blame->holder;
  td_answer answer = answer_of(
      TD_ANSWER_waits, td_said(NULL, has_holder ? TD_SAY_answer_lock_held : TD_SAY_answer_lock,
                               td_with_text("lock", lock->name),
                               td_with_text("waiter", has_holder ? blame->waiter : ""),
                               td_with_text("holder", has_holder ? blame->holder : "")));
  answer.ns = lock->waits.sum;
  if (blame) answer.seq = blame->longest.begin_seq;
  if (blame && *blame->line) answer.line = td_dup_string(blame->line);
  add(self, answer);
}

static uint64_t
lay_longest(const td_contended_queue *queue) {
  return queue->longest.popped_ns - queue->longest.pushed_ns;
}

static void
add_queue(td_answers *self, const td_contention *contention) {
  const td_contended_queue *longest = NULL;
  for (uint32_t i = 0; i < contention->n_queues; i++) {
    const td_contended_queue *queue = &contention->queues[i];
    if (queue->longest.node == TD_NONE) continue;
    if (!longest || lay_longest(queue) > lay_longest(longest)) longest = queue;
  }
  if (!longest || !lay_longest(longest)) return;
  td_answer answer = answer_of(
      TD_ANSWER_waits, td_said(NULL, TD_SAY_answer_queue, td_with_text("queue", longest->name)));
  answer.ns = lay_longest(longest);
  answer.seq = longest->longest.pop_seq;
  answer.node = longest->longest.node;
  add(self, answer);
}

static void
tell_waits(td_answers *self, const td_contention *contention) {
  bool knows_locks = contention->locks_known == TD_knowledge_observed;
  if (!knows_locks)
    add_plain(self, TD_ANSWER_waits, TD_SAY_answer_locks_unknown);
  else if (!contention->locks.n_locks)
    add_absence(self, TD_ANSWER_waits, TD_SAY_answer_no_locks, TD_SAY_answer_no_locks_in_part);
  else
    for (uint32_t i = 0; i < contention->locks.n_locks && i < 2; i++)
      add_lock(self, contention, &contention->locks.locks[i]);
  if (contention->queues_known == TD_knowledge_observed)
    add_queue(self, contention);
  else
    add_plain(self, TD_ANSWER_waits, TD_SAY_answer_queues_unknown);
}

/* ---- what holds memory ---- */

static void
add_holder(td_answers *self, const td_memory_holder *holder) {
  td_answer answer = answer_of(
      TD_ANSWER_memory, td_said(NULL, holder->is_leaf ? TD_SAY_answer_leaf : TD_SAY_answer_holder,
                                td_with_text("name", holder->name)));
  answer.bytes = holder->bytes;
  answer.seq = holder->since_seq;
  answer.node = holder->node;
  answer.line = holder->line ? td_dup_string(holder->line) : NULL;
  add(self, answer);
}

static void
tell_memory(td_answers *self, const td_memory *memory) {
  const td_memory_moment *peak = &memory->peak;
  int n_known = 0;
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++)
    n_known += memory->is_known[group];
  bool is_whole = n_known == TD_N_HOLDING_GROUPS && !self->lacks_events;
  if (peak->seq == UINT64_MAX && is_whole) {
    add_plain(self, TD_ANSWER_memory, TD_SAY_answer_memory_none);
    return;
  }
  if (peak->seq == UINT64_MAX) {
    add_plain(self, TD_ANSWER_memory, TD_SAY_answer_memory_unknown);
    return;
  }
  td_answer most = answer_of(
      TD_ANSWER_memory,
      td_dup_string(td_sentence_text(is_whole ? TD_SAY_answer_peak : TD_SAY_answer_peak_in_part)));
  most.bytes = td_memory_total(&peak->level);
  most.seq = peak->seq;
  most.graph_task = peak->graph_task;
  add(self, most);
  for (uint32_t i = 0; i < peak->n_holders && i < 2; i++)
    add_holder(self, &peak->holders[i]);
}

/* ---- all of it ---- */

/* A reading of the tape: of its findings, its times, its waits, its memory. */
typedef td_status reading(td_answers *self, td_tape *tape, td_error *error);

static td_status
read_times(td_answers *self, td_tape *tape, td_error *error) {
  const td_report_wish wish = {.by = TD_REPORT_BY_op, .graph_task = TD_NONE};
  td_report report;
  td_status status = td_report_make(tape, &wish, &report, error);
  if (status == TD_OK) tell_time(self, &report);
  td_report_fini(&report);
  return status;
}

static td_status
read_waits(td_answers *self, td_tape *tape, td_error *error) {
  td_contention contention;
  td_status status = td_contention_make(tape, TD_NONE, NULL, &contention, error);
  if (status == TD_OK) tell_waits(self, &contention);
  td_contention_fini(&contention);
  return status;
}

static td_status
read_memory(td_answers *self, td_tape *tape, td_error *error) {
  td_memory *memory = TD_NEW(td_memory); /* too large for a stack */
  td_status status = td_memory_make(tape, TD_NONE, NULL, memory, error);
  if (status == TD_OK) tell_memory(self, memory);
  td_memory_fini(memory);
  free(memory);
  return status;
}

td_status
td_answers_make_with(td_tape *tape, const td_findings *findings, td_answers *answers,
                     td_error *error) {
  static reading *const readings[] = {read_times, read_waits, read_memory};
  const td_tape_info *info = td_tape_info_get(tape);
  *answers = (td_answers){.lacks_events = info->damage || info->n_dropped};
  tell_wrong(answers, findings);
  td_status status = TD_OK;
  for (size_t i = 0; i < TD_N_ELEMENTS(readings) && status == TD_OK; i++)
    status = readings[i](answers, tape, error);
  if (status == TD_OK) tell_unlooked(answers, info, findings);
  return status;
}

td_status
td_answers_make(td_tape *tape, td_answers *answers, td_error *error) {
  *answers = (td_answers){0};
  td_findings findings = {0};
  td_status status = td_findings_make(tape, &findings, error);
  if (status == TD_OK) status = td_answers_make_with(tape, &findings, answers, error);
  td_findings_fini(&findings);
  return status;
}

static bool
says_more(const td_answer *answer, const td_answer *other) {
  bool has_figure = answer->ns || answer->bytes, other_has = other->ns || other->bytes;
  if (answer->share >= 0 || other->share >= 0) return answer->share > other->share;
  return has_figure && !other_has;
}

const td_answer *
td_answers_main(const td_answers *answers, td_answer_topic topic) {
  const td_answer *most = NULL;
  for (uint32_t i = 0; i < answers->n; i++) {
    const td_answer *answer = &answers->items[i];
    if (answer->topic == topic && (!most || says_more(answer, most))) most = answer;
  }
  return most;
}

void
td_answers_fini(td_answers *answers) {
  for (uint32_t i = 0; i < answers->n; i++)
    fini(&answers->items[i]);
  free(answers->items);
  *answers = (td_answers){0};
}
