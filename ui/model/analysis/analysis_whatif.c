/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/whatif.h"

#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis_tables.h"
#include "ui/model/analysis/whatif_changes.h"

#include <glib/gi18n.h>

static const TdColumn columns[] = {
    {N_("Policy"), TD_UNIT_TEXT, N_("which ready task goes first"), 80},
    {N_("Wall"), TD_UNIT_NS, N_("time that the passes would take")},
    {N_("Change"), TD_UNIT_CHANGE, N_("against the replay of what was recorded")},
    {N_("Queue"), TD_UNIT_COUNT, N_("most tasks in one queue at once")},
    {N_("Memory"), TD_UNIT_BYTES, N_("most bytes of gradients that wait in buffers at once")},
};

static void
add_result(TdTable *table, const td_whatif *whatif, const char *name,
           const td_virtual_result *result) {
  double replayed = (double)whatif->replayed.wall;
  TdTableRow *row = td_table_add(table, TD_NOWHERE);
  td_table_row_set_text(row, 0, name);
  td_table_row_set_number(row, 1, (double)result->wall);
  if (whatif->replayed.wall) td_table_row_set_number(row, 2, (double)result->wall / replayed - 1);
  td_table_row_set_number(row, 3, result->queue_peak);
  if (whatif->has_bytes) td_table_row_set_number(row, 4, (double)result->memory_peak);
}

static void
tell_bounds(TdTable *table, const td_virtual_result *result) {
  g_autofree char *path = td_format_ns((double)result->critical_path);
  g_autofree char *work = td_format_ns((double)result->work_over_workers);
  td_table_add_note(table, g_strdup_printf(_("No schedule can be faster than %s, the longest path, "
                                             "or %s, the work by the workers."),
                                           path, work));
}

static void
tell(TdTable *table, const td_whatif *whatif) {
  double error = td_whatif_error(whatif);
  g_autofree char *recorded = td_format_ns((double)whatif->recorded);
  g_autofree char *replayed = td_format_ns((double)whatif->replayed.wall);
  td_table_set_summary(
      table, g_strdup_printf(_("Recorded: %s. Replayed as recorded: %s, %.1f\u00a0%% off."),
                             recorded, replayed, 100 * error));
  if (error > TD_WHATIF_TRUSTED_ERROR)
    td_table_add_note(table,
                      g_strdup_printf(_("The replay itself is more than %.0f\u00a0%% off: do not "
                                        "trust the numbers above."),
                                      100 * TD_WHATIF_TRUSTED_ERROR));
  if (whatif->n_left_out)
    td_table_add_note(table,
                      g_strdup_printf(_("Passes that failed or have no end are left out: %u."),
                                      whatif->n_left_out));
  if (whatif->n_skipped)
    td_table_add_note(table, g_strdup(_("The first pass of the tape is left out, because much "
                                        "happens in it for the first time.")));
  if (!whatif->has_bytes)
    td_table_add_note(table,
                      g_strdup(_("– Memory: the tape does not tell the sizes of gradients.")));
  td_table_add_note(table, g_strdup(_("Times are computed: recorded durations in another order.")));
}

static TdTable *
run(td_tape *tape, const TdAnalysisWish *wish, GArray *scalings, unsigned frees, td_error *error) {
  td_virtual_plan plans[TD_N_SCHEDULES];
  td_virtual_result results[TD_N_SCHEDULES];
  td_whatif whatif;
  for (guint i = 0; i < TD_N_SCHEDULES; i++)
    plans[i] = (td_virtual_plan){.schedule = (td_schedule)i,
                                 .n_devices = wish->n_devices,
                                 .n_workers = MAX(wish->n_workers, 1),
                                 .scalings = (const td_scaling *)(void *)scalings->data,
                                 .n_scalings = scalings->len,
                                 .frees = frees};
  if (td_whatif_make(tape, plans, TD_N_SCHEDULES, TD_WHATIF_SKIP_WARMING, &whatif, results,
                     error) != TD_OK)
    return NULL;
  TdTable *table = td_table_new(columns, G_N_ELEMENTS(columns), G_MAXUINT);
  for (guint i = 0; i < TD_N_SCHEDULES; i++)
    add_result(table, &whatif, td_schedule_name((td_schedule)i), &results[i]);
  tell(table, &whatif);
  tell_bounds(table, &results[0]);
  return table;
}

TdTable *
td_analysis_whatif(td_tape *tape, const TdAnalysisWish *wish, td_error *error) {
  g_auto(GStrv) words = g_strsplit_set(wish->changes, " ,", -1);
  g_autoptr(GArray) scalings = g_array_new(FALSE, FALSE, sizeof(td_scaling));
  unsigned frees = 0;
  if (td_whatif_read_changes(words, scalings, &frees, error)) return NULL;
  return run(tape, wish, scalings, frees, error);
}
