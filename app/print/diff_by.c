/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/diff_by.h"

#include "app/common/columns.h"
#include "app/print/json_members.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>

/* ---- JSON ---- */

static void
write_side(td_json *json, const char *key, const td_diff_by_side *side) {
  td_json_key(json, key);
  if (!side->n_passes) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_u64(json, "passes", side->n_passes);
  td_member_u64(json, "calls", side->n_calls);
  td_member_u64(json, "p25", side->p25);
  td_member_u64(json, "median", side->p50);
  td_member_u64(json, "p75", side->p75);
  td_json_end_object(json);
}

static void
write_row(td_json *json, const td_diff_by_row *row) {
  td_json_begin_object(json);
  td_member_string(json, "key", row->key);
  write_side(json, "a", &row->a);
  write_side(json, "b", &row->b);
  td_json_key(json, "ratio");
  if (row->lack)
    td_json_null(json);
  else
    td_json_double(json, row->ratio);
  td_member_string(json, "reason", row->lack);
  td_json_end_object(json);
}

void
td_diff_by_print_json(const td_diff_by *diff, td_report_by by) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "ns");
  td_member_string(&json, "by", td_report_by_name(by));
  td_json_key(&json, "passes");
  td_json_begin_object(&json);
  td_member_u64(&json, "a", diff->n_passes_a);
  td_member_u64(&json, "b", diff->n_passes_b);
  td_json_end_object(&json);
  td_json_key(&json, "rows");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < diff->n_rows; i++)
    write_row(&json, &diff->rows[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- text ---- */

static char *
side_text(const td_diff_by_side *side) {
  if (!side->n_passes) return g_strdup("–");
  g_autofree char *median = td_format_ns((double)side->p50);
  g_autofree char *low = td_format_ns((double)side->p25);
  g_autofree char *high = td_format_ns((double)side->p75);
  return g_strdup_printf("%s (%s – %s)", median, low, high);
}

static void
print_row(const td_diff_by_row *row) {
  g_autofree char *a = side_text(&row->a);
  g_autofree char *b = side_text(&row->b);
  g_autofree char *ratio = row->lack ? g_strdup("–") : g_strdup_printf("%.2f", row->ratio);
  char *key = td_line_make(g_strdup(row->key), TD_TEXT_SHOWN);
  td_column_print(a, 32);
  td_column_print(b, 32);
  td_column_print(ratio, 6);
  printf("%s%s%s%s\n", key, row->lack ? "  (" : "", row->lack ? row->lack : "",
         row->lack ? ")" : "");
  free(key);
}

void
td_diff_by_print_text(td_tape *a, td_tape *b, const td_diff_by *diff, td_report_by by) {
  g_autofree char *in_a = td_format_many(diff->n_passes_a, "pass", "passes");
  g_autofree char *in_b = td_format_many(diff->n_passes_b, "pass", "passes");
  printf("A: %s, %s that ended well\nB: %s, %s\n", td_tape_path(a), in_a, td_tape_path(b), in_b);
  puts("Time in functions for each pass: median, and the middle half. The ratio is B's by A's.");
  td_column_print("A", 32);
  td_column_print("B", 32);
  td_column_print("ratio", 6);
  puts(td_report_by_heading(by));
  for (uint32_t i = 0; i < diff->n_rows; i++)
    print_row(&diff->rows[i]);
}
