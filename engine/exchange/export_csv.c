/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Comma-separated values by RFC 4180, but with newlines alone. Null is nothing. */
#include "engine/base/json.h"
#include "engine/exchange/table_rows.h"

#include <inttypes.h>

static void
print_text(FILE *out, const char *text, size_t length) {
  bool is_plain = true;
  for (size_t i = 0; i < length; i++)
    is_plain = is_plain && !strchr(",\"\r\n", text[i]);
  if (is_plain) {
    fwrite(text, 1, length, out);
    return;
  }
  fputc('"', out);
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') fputc('"', out);
    fputc(text[i], out);
  }
  fputc('"', out);
}

static void
print_cell(FILE *out, const td_cell *cell) {
  if (cell->type == TD_CELL_TEXT)
    print_text(out, cell->text, cell->length);
  else if (cell->type)
    fprintf(out, "%" PRId64, cell->number);
}

static void
row_cb(td_table table, const td_cell *cells, void *data) {
  FILE *out = ((FILE *const *)data)[table];
  uint32_t n = td_table_get(table)->n_columns;
  for (uint32_t i = 0; i < n; i++) {
    print_cell(out, &cells[i]);
    fputc(i + 1 < n ? ',' : '\n', out);
  }
}

static void
print_heading(FILE *out, const td_table_info *table) {
  for (uint32_t i = 0; i < table->n_columns; i++)
    fprintf(out, "%s%s", i ? "," : "", table->columns[i].name);
  fputc('\n', out);
}

td_status
td_export_csv(td_tape *tape, const td_export_wish *wish, FILE *const *files, td_error *error) {
  const td_row_sink sink = {row_cb, (void *)files};
  for (int i = 0; i < TD_N_TABLES; i++)
    print_heading(files[i], td_table_get((td_table)i));
  return td_tables_write(tape, wish, &sink, error);
}

static void
print_types(FILE *out, const td_table_info *table) {
  static const char *const types[] = {
      [TD_CELL_INT] = "INT", [TD_CELL_BOOL] = "BOOL", [TD_CELL_TEXT] = "TEXT"};
  td_json json;
  td_json_init(&json, out);
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < table->n_columns; i++) {
    td_json_begin_array(&json);
    td_json_string(&json, table->columns[i].name);
    td_json_string(&json, types[table->columns[i].type]);
    td_json_string(&json, table->columns[i].summary);
    td_json_end_array(&json);
  }
  td_json_end_array(&json);
  td_json_newline(&json);
}

td_status
td_export_typed_csv(td_tape *tape, const td_export_wish *wish, FILE *const *files,
                    td_error *error) {
  for (int i = 0; i < TD_N_TABLES; i++)
    print_types(files[i], td_table_get((td_table)i));
  return td_export_csv(tape, wish, files, error);
}
