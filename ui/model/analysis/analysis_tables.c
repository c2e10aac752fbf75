/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis/analysis_tables.h"

#include "ui/geometry/format.h"

#include <glib/gi18n.h>

void
td_table_note_left_out(TdTable *table, guint n, const char *command) {
  guint shown = g_list_model_get_n_items(td_table_get_rows(table));
  if (n <= shown) return;
  g_autofree char *count = td_format_count(n - shown);
  td_table_add_note(
      table,
      g_strdup_printf(_("%s more rows are left out: tapedeck %s has them all."), count, command));
}

static const char *
range_text(TdAnalysis analysis) {
  switch (analysis) {
  case TD_ANALYSIS_memory:
    return _("Memory that was held when the range of time began counts too.");
  case TD_ANALYSIS_contention:
    return _("Time is cut at both ends of the range. A wait counts if it has a part in it.");
  default:
    return _("Time is cut at both ends of the range. A call counts if it begins in it.");
  }
}

void
td_table_note_range(TdTable *table, const TdAnalysisWish *wish) {
  if (wish->range.is_set) td_table_add_note(table, g_strdup(range_text(wish->analysis)));
}

void
td_table_note_known(TdTable *table, td_knowledge known) {
  if (known == TD_knowledge_observed)
    td_table_add_note(table, g_strdup(_("Times were observed.")));
  else if (known == TD_knowledge_reconstructed)
    td_table_add_note(
        table, g_strdup(_("Times follow from other events. The recording did not observe them.")));
}
