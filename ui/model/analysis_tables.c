/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis_tables.h"

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

void
td_table_note_known(TdTable *table, td_knowledge known) {
  if (known == TD_knowledge_observed)
    td_table_add_note(table, g_strdup(_("Times were observed.")));
  else if (known == TD_knowledge_reconstructed)
    td_table_add_note(table, g_strdup(_("Times follow from other events: nobody observed them.")));
}
