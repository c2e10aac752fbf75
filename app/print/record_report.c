/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/record_report.h"

#include "app/common/exit.h"
#include "app/common/shell_name.h"
#include "app/print/sentences.h"
#include "app/session/watchable.h"

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

/* The tapes by their names, and why they do not have all that they should have. The caller frees.
 */
static char *
dup_recorded(const char *names, const td_record_outcome *outcome, const td_session_tapes *tapes,
             const td_steps_choice *steps) {
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
  return td_printed_dup(sentence, {"tapes", names},
                        {"problem", outcome->problem ? outcome->problem : tapes->unread});
}

static void
print_tapes(const td_record_outcome *outcome, const td_session_tapes *tapes,
            const td_steps_choice *steps) {
  g_autofree char *names = list_names(tapes->tapes);
  g_autofree char *joined = tapes->joined ? td_shell_name(tapes->joined) : NULL;
  g_autofree char *recorded = dup_recorded(joined ? joined : names, outcome, tapes, steps);
  if (joined)
    fprintf(stderr, "tapedeck: recorded %u processes (%s) into %s; see it with: tapedeck %s %s\n",
            tapes->tapes->len, names, recorded, td_command_to_see(), joined);
  else if (tapes->problem)
    fprintf(stderr, "tapedeck: recorded %s; they are not joined: %s\n", recorded, tapes->problem);
  else
    fprintf(stderr, "tapedeck: recorded %s; see it with: tapedeck %s %s\n", recorded,
            td_command_to_see(), names);
}

static void
print_nothing(const td_record_outcome *outcome, const td_session_tapes *tapes,
              const td_steps_choice *steps, const char *program) {
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
}

void
td_record_report_print(const td_record_result *result, const td_steps_choice *steps,
                       const char *program) {
  if (result->problem)
    fprintf(stderr, "tapedeck: %s\n", result->problem);
  else if (result->n_tapes > 0)
    print_tapes(&result->outcome, &result->tapes, steps);
  else if (result->outcome.n_elsewhere == 0)
    print_nothing(&result->outcome, &result->tapes, steps, program);
}
