/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/record_report.h"

#include "app/common/exit.h"
#include "app/common/shell_name.h"
#include "app/print/sentences.h"
#include "app/session/watchable.h"
#include "engine/profile/answers/answers.h"
#include "engine/profile/recorder_notes.h"
#include "ui/geometry/format.h"

#include <stdio.h>

/* So many tapes are named one by one. */
#define NAMES_MAX 4

/* "a.tape, b.tape", or the first and the last of many. */
static char *
list_names(const GPtrArray *tapes) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < tapes->len; i++) {
    bool skipped = tapes->len > NAMES_MAX && i > 0 && i + 1 < tapes->len;
    if (skipped) continue;
    g_autofree char *name = td_shell_name(((const td_session_tape *)tapes->pdata[i])->path);
    const char *between = tapes->len > NAMES_MAX ? " ... " : ", ";
    g_string_append_printf(names, "%s%s", i ? between : "", name);
  }
  return g_string_free(g_steal_pointer(&names), FALSE);
}

/* A longer tape would keep the user waiting: `findings` and `answers` look through it. */
#define EVENTS_SEARCHED 500000

/* One line on each topic but what is wrong, which the last line tells. */
static void
print_answers(td_tape *tape, const td_findings *findings) {
  td_answers answers = {0};
  td_status status = td_answers_make_with(tape, findings, &answers, NULL);
  for (td_answer_topic topic = TD_ANSWER_wrong + 1; topic < TD_N_ANSWER_TOPICS && !status;
       topic++) {
    const td_answer *answer = td_answers_main(&answers, topic);
    if (!answer) continue;
    g_autofree char *figure = td_format_figure(answer->ns, answer->bytes);
    g_autofree char *share =
        answer->share < 0 ? g_strdup("") : g_strdup_printf(", %.0f %%", 100 * answer->share);
    fprintf(stderr, "tapedeck: %s: %s%s%s%s\n", td_answer_topic_title(topic), answer->text,
            *figure ? ": " : "", figure, share);
  }
  td_answers_fini(&answers);
}

/* What was recorded, and what `findings` says of it; without that if nobody can tell. *stopped is
 * what the recorder did no more. Prints the answers about the tape, if it shall. */
static char *
dup_found(const char *recorded, td_tape *tape, bool with_answers, uint32_t *stopped) {
  td_findings findings = {0};
  bool is_short = td_tape_info_get(tape)->n_events <= EVENTS_SEARCHED;
  td_status status = is_short ? td_findings_make(tape, &findings, NULL) : TD_UNSUPPORTED;
  g_autofree char *count = td_format_many(findings.n, "finding", "findings");
  td_printed sentence = status       ? TD_PRINTED_recorded
                        : findings.n ? TD_PRINTED_recorded_found
                                     : TD_PRINTED_recorded_nothing_found;
  const char *title = findings.n ? td_finding_kind_title(findings.items[0].kind) : NULL;
  char *text = td_printed_dup(sentence, {"tapes", recorded}, {"findings", count}, {"title", title});
  *stopped = findings.recorder_stopped;
  if (!status && with_answers) print_answers(tape, &findings);
  td_findings_fini(&findings);
  return text;
}

static char *
dup_found_in(const char *recorded, const char *path, bool with_answers, uint32_t *stopped) {
  td_tape *tape = NULL;
  if (td_tape_open(path, &tape, NULL)) return g_strdup(recorded);
  char *text = dup_found(recorded, tape, with_answers, stopped);
  td_tape_close(tape);
  return text;
}

/* The tapes by their names, and why they do not have all that they should have. The caller frees.
 */
static char *
dup_recorded(const char *names, const td_record_outcome *outcome, const td_session_tapes *tapes,
             const td_steps_choice *steps, bool *is_cut) {
  bool some_broke = false, some_run = false;
  for (guint i = 0; i < tapes->tapes->len; i++) {
    const td_session_tape *tape = tapes->tapes->pdata[i];
    some_broke = some_broke || (!tape->whole && !tape->runs);
    some_run = some_run || (!tape->whole && tape->runs);
  }
  bool in_vain = steps->until && !outcome->nan_came;
  td_printed sentence = outcome->problem ? TD_PRINTED_recorded_cut
                        : tapes->unread  ? TD_PRINTED_recorded_unread
                        : some_broke     ? TD_PRINTED_recorded_broken
                        : some_run       ? TD_PRINTED_recorded_so_far
                        : in_vain        ? TD_PRINTED_recorded_in_vain
                                         : TD_PRINTED_recorded;
  *is_cut = sentence != TD_PRINTED_recorded;
  return td_printed_dup(sentence, {"tapes", names},
                        {"problem", outcome->problem ? outcome->problem : tapes->unread});
}

static void
print_stopped(uint32_t stopped) {
  uint32_t work = 0;
  for (const char *note; (note = td_recorder_notes_next(stopped, &work));)
    fprintf(stderr, "tapedeck: %s\n", note);
}

/* The reason names the option if it helps. */
static bool
needs_trust(const td_session_tapes *tapes) {
  return tapes->unread && strstr(tapes->unread, "--trust");
}

static void
print_tapes(const td_record_outcome *outcome, const td_session_tapes *tapes,
            const td_steps_choice *steps, bool with_answers) {
  g_autofree char *names = list_names(tapes->tapes);
  g_autofree char *joined = tapes->joined ? td_shell_name(tapes->joined) : NULL;
  bool is_cut;
  g_autofree char *recorded = dup_recorded(joined ? joined : names, outcome, tapes, steps, &is_cut);
  const td_session_tape *first = tapes->tapes->pdata[0];
  const char *path = joined                              ? tapes->joined
                     : tapes->tapes->len == 1 && !is_cut ? first->path
                                                         : NULL;
  uint32_t stopped = 0;
  g_autofree char *found =
      path ? dup_found_in(recorded, path, with_answers, &stopped) : g_strdup(recorded);
  if (joined)
    fprintf(stderr, "tapedeck: recorded %u processes (%s) into %s; see it with: tapedeck %s %s\n",
            tapes->tapes->len, names, found, td_command_to_see(), joined);
  else if (tapes->problem)
    fprintf(stderr, "tapedeck: recorded %s; they are not joined: %s\n", recorded, tapes->problem);
  else
    fprintf(stderr, "tapedeck: recorded %s; see it with: tapedeck %s %s%s\n", found,
            td_command_to_see(), needs_trust(tapes) ? "--trust " : "", names);
  print_stopped(stopped);
}

/* The program's error is not read. Python ends with 1 after any exception. */
static void
print_try(int status) {
  if (status != 1) return;
  fputs(
      "tapedeck: if the program's error says that a tensor \"does not require grad\", that tensor "
      "has no graph, and what cut it off is not known. Look for no_grad(), frozen parameters, "
      "detach(), item(), NumPy and argmax() on the way to the loss\n",
      stderr);
}

static void
print_nothing(const td_record_outcome *outcome, const td_session_tapes *tapes,
              const td_steps_choice *steps, const char *program, int status) {
  bool has_torch = outcome->n_hellos > 0 || outcome->n_loaded > 0;
  g_autofree char *problem = has_torch ? NULL : td_watchable_problem(program);
  if (outcome->n_passes > 0 && steps->words) {
    fprintf(stderr,
            "tapedeck: nothing was recorded: the program made %u steps, none of them in %s\n",
            outcome->n_steps, steps->words);
    return;
  }
  const char *reason = problem;
  if (outcome->problem)
    reason = outcome->problem;
  else if (outcome->n_passes > 0 && tapes->n_lost == 0 && tapes->n_empty > 0)
    reason = "backward passes ran, but the probe could not record any of them";
  else if (outcome->n_passes > 0 && tapes->n_lost == 0)
    reason = "its tape is not where it was written: it was moved or removed";
  else if (tapes->n_lost > 0)
    reason = "the program was killed before its first backward pass was written";
  else if (has_torch)
    reason = "the program loaded PyTorch, but no backward pass ran";
  else if (!problem)
    reason = "the command did not load PyTorch, or hid it (a static program, no LD_PRELOAD or "
             "TAPEDECK_SESSION in the environment, no descriptor left)";
  fprintf(stderr, "tapedeck: nothing was recorded: %s\n", reason);
  bool has_no_pass = outcome->n_passes == 0 && tapes->n_lost == 0 && !outcome->problem;
  if (has_torch && has_no_pass) print_try(status);
}

void
td_record_report_print(const td_record_result *result, const td_record_options *options,
                       const char *program) {
  const td_steps_choice *steps = &options->steps;
  if (result->problem)
    fprintf(stderr, "tapedeck: %s\n", result->problem);
  else if (result->n_tapes > 0)
    print_tapes(&result->outcome, &result->tapes, steps, !options->inside);
  else if (result->outcome.n_elsewhere == 0)
    print_nothing(&result->outcome, &result->tapes, steps, program, result->status);
}
