/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/critical_report.h"

#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis_tables.h"

#include <glib/gi18n.h>

enum { CHOICE_PATH, CHOICE_SLACK };

static const TdColumn path_columns[] = {
    {N_("Mostly in"), TD_UNIT_TEXT, N_("module or function that took most of this part"), 120},
    {N_("Time"), TD_UNIT_NS, N_("time of this part of the path")},
    {N_("Share"), TD_UNIT_SHARE, N_("share of the path")},
    {N_("Nodes"), TD_UNIT_COUNT, N_("nodes one after another on a thread")},
    {N_("Waited for"), TD_UNIT_TEXT, N_("why this part follows the one before")},
    {N_("Thread or stream"), TD_UNIT_TEXT,
     N_("thread that ran these nodes, or stream that ran their kernels")},
};

static const TdColumn slack_columns[] = {
    {N_("Node"), TD_UNIT_TEXT, NULL, 200},
    {N_("Slack"), TD_UNIT_NS, N_("how much longer the node could take without a longer path")},
};

static TdRowPlace
node_place(uint32_t node) {
  TdRowPlace place = TD_NOWHERE;
  place.node = node;
  return place;
}

/* The lock or the stream that a part waited for, and who had the lock; NULL if it waited for none.
 */
static char *
name_wait(const td_critical_part *part) {
  bool is_stream = part->link == TD_CRITICAL_stream && part->stream_wait.n;
  const td_critical_wait *wait = is_stream ? &part->stream_wait : &part->lock_wait;
  if (!is_stream && part->link != TD_CRITICAL_lock) return NULL;
  g_autofree char *time = td_format_ns((double)wait->ns);
  if (is_stream) return g_strdup_printf("%s, %s", wait->name, time);
  if (!wait->holder) return g_strdup_printf(_("lock: %s, %s"), wait->name, time);
  return g_strdup_printf(_("lock: %s, %s, thread %s had it"), wait->name, time, wait->holder);
}

static TdTable *
make_path(const td_critical_report *report) {
  static const char *const links[] = {
      [TD_CRITICAL_begin] = N_("begin"),   [TD_CRITICAL_gradient] = N_("gradient"),
      [TD_CRITICAL_thread] = N_("thread"), [TD_CRITICAL_lock] = N_("lock"),
      [TD_CRITICAL_launch] = N_("launch"), [TD_CRITICAL_stream] = N_("stream")};
  TdTable *table = td_table_new(path_columns, G_N_ELEMENTS(path_columns), G_MAXUINT);
  for (uint32_t i = 0; i < report->n_parts; i++) {
    const td_critical_part *part = &report->parts[i];
    TdTableRow *row = td_table_add(table, node_place(part->first));
    td_table_row_set_text(row, 0, part->what);
    td_table_row_set_number(row, 1, (double)part->ns);
    if (report->length) td_table_row_set_number(row, 2, (double)part->ns / (double)report->length);
    td_table_row_set_number(row, 3, part->n_steps);
    g_autofree char *waited = name_wait(part);
    td_table_row_set_text(row, 4, waited ? waited : _(links[part->link]));
    td_table_row_set_text(row, 5, part->stream ? part->stream : part->thread);
  }
  return table;
}

static TdTable *
make_slack(const td_critical_report *report) {
  TdTable *table = td_table_new(slack_columns, G_N_ELEMENTS(slack_columns), 1);
  for (uint32_t i = 0; i < MIN(report->n_tasks, TD_TABLE_ROWS_MAX); i++) {
    TdTableRow *row = td_table_add(table, node_place(report->slacks[i].node));
    td_table_row_set_text(row, 0, report->slacks[i].name);
    td_table_row_set_number(row, 1, (double)report->slacks[i].ns);
  }
  td_table_note_left_out(table, report->n_tasks, "report --critical --json");
  return table;
}

static void
tell(TdTable *table, const td_critical_report *report, bool is_chosen) {
  g_autofree char *wall = td_format_ns((double)report->wall);
  g_autofree char *length = td_format_ns((double)report->length);
  g_autofree char *work = td_format_ns((double)report->work);
  g_autofree char *pass = g_strdup_printf(
      is_chosen ? _("Graph task %u took %s.") : _("The longest pass is graph task %u. It took %s."),
      report->graph_task, wall);
  td_table_set_summary(table,
                       g_strdup_printf(_("%s Its longest path has %u of %u nodes and takes %s. All "
                                         "nodes together take %s."),
                                       pass, report->n_steps, report->n_tasks, length, work));
  if (report->left_out_first)
    td_table_add_note(table, g_strdup(_("The first pass of the tape is left out, because much "
                                        "happens in it for the first time.")));
  if (report->n_passes > 1)
    td_table_add_note(table,
                      g_strdup(_("Other passes overlapped this one and share its threads, so "
                                 "the path may go through them.")));
  td_table_note_known(table, TD_knowledge_observed);
}

TdTable *
td_analysis_critical(td_tape *tape, const TdAnalysisWish *wish, td_error *error) {
  td_critical_report report;
  TdTable *table = NULL;
  if (td_critical_report_make(tape, wish->graph_task, &report, error) == TD_OK) {
    table = wish->choice == CHOICE_SLACK ? make_slack(&report) : make_path(&report);
    tell(table, &report, wish->graph_task != TD_NONE);
  }
  td_critical_report_fini(&report);
  return table;
}
