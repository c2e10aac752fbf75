/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/parquet.h"
#include "engine/exchange/table_rows.h"

static void
row_cb(td_table table, const td_cell *cells, void *data) {
  td_parquet_row(((td_parquet *const *)data)[table], cells);
}

td_status
td_export_parquet(td_tape *tape, const td_export_wish *wish, FILE *const *files, td_error *error) {
  td_parquet *tables[TD_N_TABLES];
  const td_row_sink sink = {row_cb, tables};
  for (int i = 0; i < TD_N_TABLES; i++)
    tables[i] = td_parquet_new(td_table_get((td_table)i), files[i]);
  td_status status = td_tables_write(tape, wish, &sink, error);
  for (int i = 0; i < TD_N_TABLES; i++)
    td_parquet_free(tables[i]);
  return status;
}
