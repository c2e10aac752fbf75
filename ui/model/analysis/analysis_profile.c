/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/report.h"

#include "engine/base/translate.h"
#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis_tables.h"

#include <glib/gi18n.h>
#include <math.h>

enum {
  KEY,
  SELF,
  SHARE,
  N,
  MEDIAN,
  P95,
  LONGEST,
  TOTAL,
  HOOKS,
  HAND_OVER,
  LOCK_WAIT,
  NO_CORE,
  QUEUE_WAIT,
  GRAD_WAIT,
  N_COLUMNS
};

static const TdColumn columns[N_COLUMNS] = {
    [KEY] = {N_("Name"), TD_UNIT_TEXT, NULL, 150},
    [SELF] = {N_("Self"), TD_UNIT_NS, N_("time in the function itself")},
    [SHARE] =
        {N_("Share"), TD_UNIT_SHARE,
         N_("share of the time that the passes took; threads at work at the same time share it")},
    [N] = {N_("Calls"), TD_UNIT_COUNT, N_("number of calls")},
    [MEDIAN] = {N_("Median"), TD_UNIT_NS, N_("half of the calls took no longer")},
    [P95] = {N_("95 %"), TD_UNIT_NS, N_("95 of 100 calls took no longer")},
    [LONGEST] = {N_("Longest"), TD_UNIT_NS, N_("the longest call")},
    [TOTAL] = {N_("Total"), TD_UNIT_NS,
               N_("all of its thread's time: with hooks, hand over and waits for locks")},
    [HOOKS] = {N_("Hooks"), TD_UNIT_NS, N_("time in hooks before and after the function")},
    [HAND_OVER] = {N_("Hand over"), TD_UNIT_NS,
                   N_("time to release inputs, add gradients up and push ready nodes")},
    [LOCK_WAIT] = {N_("Lock wait"), TD_UNIT_NS, N_("time in which it waited for a lock")},
    [NO_CORE] = {N_("No core"), TD_UNIT_NS,
                 N_("time in which its thread could run, but other threads had the cores")},
    [QUEUE_WAIT] = {N_("Queue wait"), TD_UNIT_NS, N_("time from the push to the pop")},
    [GRAD_WAIT] = {N_("Grad wait"), TD_UNIT_NS, N_("time from the first gradient to the push")},
};

static bool
has_lives(const TdAnalysisWish *wish) {
  return wish->choice != TD_REPORT_BY_hook && wish->choice != TD_REPORT_BY_lock;
}

static void
set_time(TdTableRow *row, guint column, uint64_t ns, bool is_known) {
  td_table_row_set_number(row, column, is_known ? (double)ns : NAN);
}

static void
set_parts(TdTableRow *row, const td_report *report, const uint64_t *parts) {
  const bool *known = report->is_known;
  set_time(row, HOOKS, parts[TD_LIFE_pre_hooks] + parts[TD_LIFE_post_hooks],
           known[TD_LIFE_pre_hooks]);
  set_time(row, HAND_OVER, parts[TD_LIFE_accumulate] + parts[TD_LIFE_release] + parts[TD_LIFE_push],
           known[TD_LIFE_release]);
  set_time(row, LOCK_WAIT, parts[TD_LIFE_lock_wait], known[TD_LIFE_lock_wait]);
  set_time(row, NO_CORE, parts[TD_LIFE_no_core], known[TD_LIFE_no_core]);
  set_time(row, QUEUE_WAIT, parts[TD_LIFE_queue_wait], known[TD_LIFE_queue_wait]);
  set_time(row, GRAD_WAIT, parts[TD_LIFE_dependency_wait], known[TD_LIFE_dependency_wait]);
}

static TdRowPlace
place_of(const td_report_call *call) {
  return (TdRowPlace){call->node, call->begin_seq + 1, (double)call->begin_ns,
                      (double)call->end_ns};
}

static void
add_row(TdTable *table, const td_report *report, const td_report_row *from, bool lives) {
  TdTableRow *row = td_table_add(table, place_of(&from->longest));
  bool is_known = !lives || report->is_known[TD_LIFE_apply];
  td_table_row_set_text(row, KEY, from->key);
  set_time(row, SELF, from->self, is_known);
  td_table_row_set_number(row, SHARE,
                          is_known && report->wall
                              ? (lives ? from->of_wall : (double)from->self) / (double)report->wall
                              : NAN);
  td_table_row_set_number(row, N, (double)from->n);
  set_time(row, MEDIAN, from->p50, is_known && from->n);
  set_time(row, P95, from->p95, is_known && from->n);
  set_time(row, LONGEST, from->max, is_known && from->n);
  if (!lives) return;
  set_time(row, TOTAL, from->total, is_known);
  set_parts(row, report, from->parts);
}

/* Why there are dashes. */
static void
add_notes(TdTable *table, const td_report *report, const TdAnalysisWish *wish) {
  static const struct {
    td_life_part part;
    const char *text;
  } notes[] = {
      {TD_LIFE_apply, N_("– Self: the ends of nodes were not observed on this tape.")},
      {TD_LIFE_release,
       N_("– Hand over: the recording did not time it; it counts as unattributed.")},
      {TD_LIFE_queue_wait, N_("– Queue wait: pushes and pops were not observed on this tape.")},
      {TD_LIFE_dependency_wait,
       N_("– Grad wait: the arrival of gradients was not observed on this tape.")},
      {TD_LIFE_no_core, N_("– No core: whether threads had a core was not observed on this tape; "
                           "such time counts in the other parts.")},
      {TD_LIFE_pre_hooks, N_("– Hooks, lock wait: they were not observed on this tape.")},
  };
  bool lives = has_lives(wish);
  td_table_note_range(table, wish);
  td_table_note_known(table, report->known);
  if (td_report_has_unreturned(report) && !wish->range.is_set)
    td_table_add_note(table, g_strdup(_("– Median, 95 %, longest: no call returned; a gradient was "
                                        "captured, or a call failed.")));
  for (guint i = 0; i < G_N_ELEMENTS(notes) && lives; i++)
    if (!report->is_known[notes[i].part]) td_table_add_note(table, g_strdup(_(notes[i].text)));
  if (lives && !report->knows_recorder)
    td_table_add_note(table, g_strdup(_("– In the recorder itself: the recording did not time it; "
                                        "it counts in the other parts.")));
}

/* "3 backward passes took 4.2 ms: 40.1 % in functions, 45.0 % handing over, ..." */
static char *
summary_of(const td_report *report) {
  g_autofree char *wall = td_format_ns((double)report->wall);
  g_autofree char *n = td_format_count(report->n_passes);
  GString *text = g_string_new(NULL);
  g_string_printf(
      text, ngettext("%s backward pass took %s", "%s backward passes took %s", report->n_passes), n,
      wall);
  const char *before = ":";
  for (guint i = 0; i < TD_N_WALL_PARTS && report->wall; i++) {
    if (report->of_wall[i] < 0.5 && i != TD_WALL_no_node) continue;
    g_string_append_printf(text, "%s %.1f\u00a0%% %s", before,
                           100 * report->of_wall[i] / (double)report->wall,
                           td_translate(td_wall_part_words((td_wall_part)i)));
    before = ",";
  }
  g_string_append_c(text, '.');
  return g_string_free(text, FALSE);
}

static TdTable *
make_table(const td_report *report, const TdAnalysisWish *wish) {
  TdTable *table = td_table_new(columns, has_lives(wish) ? N_COLUMNS : TOTAL, SELF);
  guint n = MIN(report->n_rows, TD_TABLE_ROWS_MAX);
  for (guint i = 0; i < n; i++)
    add_row(table, report, &report->rows[i], has_lives(wish));
  td_table_set_summary(table, summary_of(report));
  td_table_note_left_out(table, report->n_rows, "report --csv");
  if (report->n_unended)
    td_table_add_note(
        table, g_strdup(_("A pass has no end on this tape: the last event counts as its end.")));
  add_notes(table, report, wish);
  return table;
}

TdTable *
td_analysis_profile(td_tape *tape, const TdAnalysisWish *wish, td_error *error) {
  td_report report;
  const td_report_wish asked = {
      .by = (td_report_by)wish->choice, .graph_task = wish->graph_task, .range = wish->range};
  TdTable *table = NULL;
  if (td_report_make(tape, &asked, &report, error) == TD_OK) table = make_table(&report, wish);
  td_report_fini(&report);
  return table;
}
