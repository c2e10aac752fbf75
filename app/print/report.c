/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/report.h"

#include "app/common/columns.h"
#include "app/print/json_members.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* rows, for people */

/* TD_COLUMN(name): the numbers of a row, in the order of the CSV. */
#define TD_SUMS(X) X(n) X(self) X(total)
#define TD_SPREADS(X) X(p50) X(p95) X(max) /* known if a call returned */
#define TD_COLUMNS(X) TD_SUMS(X) TD_SPREADS(X)

static double
share_of(const td_report *report, double ns) {
  return report->wall ? ns / (double)report->wall : 0;
}

/* Rows of hooks and locks have no parts. */
static bool
has_lives(td_report_by by) {
  return by != TD_REPORT_BY_hook && by != TD_REPORT_BY_lock;
}

static bool
is_part_known(const td_report *report, td_report_by by, int part) {
  return has_lives(by) && report->is_known[part];
}

static bool
is_self_known(const td_report *report, td_report_by by) {
  if (!has_lives(by)) return true;
  return report->is_known[TD_LIFE_apply];
}

/* ---- order ---- */

static int
compare_keys(const void *a, const void *b) {
  return strcmp(((const td_report_row *)a)->key, ((const td_report_row *)b)->key);
}

#define X(name)                                                                                    \
  static int compare_##name(const void *a, const void *b) {                                        \
    uint64_t left = ((const td_report_row *)a)->name, right = ((const td_report_row *)b)->name;    \
    return left == right ? compare_keys(a, b) : left > right ? -1 : 1;                             \
  }
TD_COLUMNS(X)
#undef X

bool
td_report_sort(td_report *report, const char *column) {
  static const struct {
    const char *name;
    int (*compare)(const void *a, const void *b);
  } columns[] = {{"key", compare_keys},
#define X(name) {#name, compare_##name},
                 TD_COLUMNS(X)
#undef X
                     {"share", compare_self}};
  for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
    if (strcmp(columns[i].name, column) != 0) continue;
    if (report->n_rows)
      qsort(report->rows, report->n_rows, sizeof *report->rows, columns[i].compare);
    return true;
  }
  return false;
}

/* ---- JSON ---- */

static void
write_row(td_json *json, const td_report *report, td_report_by by, const td_report_row *row) {
  bool is_known = is_self_known(report, by);
  td_json_begin_object(json);
  td_member_string(json, "key", row->key);
  td_member_u64(json, "n", row->n);
  td_member_known(json, "self", row->self, is_known);
  td_member_known(json, "total", row->total, is_known);
  td_json_key(json, "share");
  td_json_double(json, is_known ? share_of(report, (double)row->self) : NAN);
  td_json_key(json, "of_wall");
  td_json_double(json, is_known && has_lives(by) ? share_of(report, row->of_wall) : NAN);
#define X(name) td_member_known(json, #name, row->name, is_known && row->n);
  TD_SPREADS(X)
#undef X
  td_json_key(json, "parts");
  td_json_begin_object(json);
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    td_member_known(json, td_life_part_name((td_life_part)part), row->parts[part],
                    is_part_known(report, by, part));
  td_json_end_object(json);
  td_member_string(json, "known", td_enum_word(TD_FIELD_ENUM_knowledge, report->known));
  td_json_end_object(json);
}

static void
write_wall(td_json *json, const td_report *report) {
  td_json_key(json, "wall_parts");
  td_json_begin_object(json);
  for (int i = 0; i < TD_N_WALL_PARTS; i++)
    td_member_known(json, td_wall_part_name((td_wall_part)i), (uint64_t)(report->of_wall[i] + 0.5),
                    td_report_knows_wall_part(report, (td_wall_part)i));
  td_json_end_object(json);
  td_json_key(json, "why");
  td_json_begin_object(json);
  for (int i = 0; i < TD_N_WALL_PARTS; i++)
    if (!td_report_knows_wall_part(report, (td_wall_part)i))
      td_member_string(json, td_wall_part_name((td_wall_part)i),
                       "the recording did not time it; it counts in the other parts");
  td_json_end_object(json);
}

static void
write_late(td_json *json, const td_late_rank *late) {
  td_json_key(json, "late");
  if (!late->is_found) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_text(json, "rank", late->rank);
  td_member_u64(json, "behind", late->late.behind);
  td_member_u64(json, "n", late->late.n);
  td_member_u64(json, "passes", late->late.n_passes);
  td_member_text(json, "place", late->late.place);
  td_member_u64(json, "seq", late->late.seq);
  td_json_end_object(json);
}

void
td_report_print_json(const td_report *report, td_report_by by, const td_late_rank *late) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "ns");
  td_member_u64(&json, "passes", report->n_passes);
  td_member_u64(&json, "wall", report->wall);
  td_member_u64(&json, "unattributed", report->unattributed);
  write_wall(&json, report);
  td_json_key(&json, "rows");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < report->n_rows; i++)
    write_row(&json, report, by, &report->rows[i]);
  td_json_end_array(&json);
  if (late) write_late(&json, late);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- CSV ---- */

static void
print_quoted(const char *text) {
  putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  putchar('"');
}

void
td_report_print_csv(const td_report *report, td_report_by by) {
  printf("key");
#define X(name) printf("," #name);
  TD_COLUMNS(X)
#undef X
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    printf(",%s", td_life_part_name((td_life_part)part));
  putchar('\n');
  for (uint32_t i = 0; i < report->n_rows; i++) {
    const td_report_row *row = &report->rows[i];
    print_quoted(row->key);
#define X(name) printf(",%" PRIu64, row->name);
    TD_SUMS(X)
#undef X
#define X(name) row->n ? printf(",%" PRIu64, row->name) : printf(",");
    TD_SPREADS(X)
#undef X
    for (int part = 0; part < TD_N_LIFE_PARTS; part++)
      is_part_known(report, by, part) ? printf(",%" PRIu64, row->parts[part]) : printf(",");
    putchar('\n');
  }
}

/* ---- text ---- */

static void
print_time(double ns, bool is_known) {
  g_autofree char *text = td_format_ns(ns);
  td_column_print(is_known ? text : "–", 9);
}

static void
print_row(const td_report *report, td_report_by by, const td_report_row *row) {
  bool is_known = is_self_known(report, by);
  const uint64_t *parts = row->parts;
  printf("%5.1f %%  ", 100 * share_of(report, has_lives(by) ? row->of_wall : (double)row->self));
  print_time((double)row->self, is_known);
  printf("%7" PRIu64 "  ", row->n);
  print_time((double)row->p50, is_known && row->n);
  print_time((double)row->max, is_known && row->n);
  if (has_lives(by)) {
    print_time((double)(parts[TD_LIFE_pre_hooks] + parts[TD_LIFE_post_hooks]),
               report->is_known[TD_LIFE_pre_hooks]);
    print_time((double)(parts[TD_LIFE_accumulate] + parts[TD_LIFE_release] + parts[TD_LIFE_push]),
               report->is_known[TD_LIFE_release]);
    print_time((double)parts[TD_LIFE_lock_wait], report->is_known[TD_LIFE_lock_wait]);
    print_time((double)parts[TD_LIFE_no_core], report->is_known[TD_LIFE_no_core]);
    putchar(' ');
    print_time((double)parts[TD_LIFE_queue_wait], report->is_known[TD_LIFE_queue_wait]);
    print_time((double)parts[TD_LIFE_dependency_wait], report->is_known[TD_LIFE_dependency_wait]);
  }
  g_autofree char *key = td_line_dup(row->key, TD_NAME_SHOWN);
  printf("%s\n", key);
}

static void
print_heading(td_report_by by) {
  printf("%7s  %9s  %7s  %9s  %9s  ", "share", "self", "n", "median", "max");
  if (has_lives(by))
    printf("%9s  %9s  %9s  %9s  %10s  %9s  ", "hooks", "hand over", "lock wait", "no core",
           "queue wait", "grad wait");
  printf("%s\n", td_report_by_heading(by));
}

/* What the columns mean, and why one has no numbers. */
static void
print_notes(const td_report *report, td_report_by by) {
  if (!has_lives(by)) return;
  if (!report->is_known[TD_LIFE_release])
    puts("–  hand over: the recording did not time it; it counts as unattributed");
  if (report->knows_recorder)
    puts("The recorder counts where it took 10 us or more at once. What it takes for each event is "
         "in the other parts.");
  else
    puts("–  in the recorder itself: the recording did not time it; it counts in the other parts");
  if (!report->is_known[TD_LIFE_queue_wait])
    puts("–  queue wait: pushes and pops were not observed on this tape");
  if (!report->is_known[TD_LIFE_dependency_wait])
    puts("–  grad wait: the arrival of gradients was not observed on this tape");
  if (!report->is_known[TD_LIFE_pre_hooks])
    puts("–  hooks, lock wait: they were not observed on this tape");
  if (!report->is_known[TD_LIFE_no_core])
    puts(
        "–  no core: whether threads had a core was not observed on this tape; such time counts in "
        "the other parts");
}

/* "of this, 40.1 % in functions, 45.0 % handing over, ..." */
static void
print_wall(const td_report *report) {
  const char *before = "of this,";
  for (int i = 0; i < TD_N_WALL_PARTS; i++) {
    if (report->of_wall[i] < 0.5 && i != TD_WALL_no_node) continue;
    printf("%s %.1f %% %s", before, 100 * share_of(report, report->of_wall[i]),
           td_wall_part_words((td_wall_part)i));
    before = ",";
  }
  putchar('\n');
}

/* With these lines, the shares of a table of nodes add up to 100 %. */
static void
print_rest(const td_report *report, td_report_by by) {
  double more = 0;
  for (uint32_t i = SHOWN; i < report->n_rows; i++)
    more += has_lives(by) ? report->rows[i].of_wall : (double)report->rows[i].self;
  if (report->n_rows > SHOWN)
    printf("%5.1f %%  %u more rows: --csv or --json has them all\n", 100 * share_of(report, more),
           report->n_rows - SHOWN);
  for (int i = TD_WALL_functions + 1; i < TD_N_WALL_PARTS && has_lives(by); i++) {
    if (report->of_wall[i] < 0.5) continue;
    printf("%5.1f %%  ", 100 * share_of(report, report->of_wall[i]));
    print_time(report->of_wall[i], true);
    printf("(%s)\n", td_wall_part_words((td_wall_part)i));
  }
}

void
td_report_print_text(const char *path, const td_report *report, td_report_by by,
                     const td_late_rank *late) {
  g_autofree char *wall = td_format_ns((double)report->wall);
  g_autofree char *passes = td_format_many(report->n_passes, "backward pass", "backward passes");
  printf("%s: %s, %s\n", path, passes, wall);
  print_wall(report);
  if (report->n_unended) {
    g_autofree char *unended = td_format_many(report->n_unended, "pass has", "passes have");
    printf("%s no end on this tape: the last event counts as the end\n", unended);
  }
  print_heading(by);
  for (uint32_t i = 0; i < MIN(report->n_rows, SHOWN); i++)
    print_row(report, by, &report->rows[i]);
  if (!report->n_rows) printf("–  nothing to tell by %s\n", td_report_by_name(by));
  print_rest(report, by);
  if (td_report_has_unreturned(report))
    puts("–  median, max: no call returned; a gradient was captured, or a call failed");
  print_notes(report, by);
  if (late && late->text) printf("\n%s\n", late->text);
}
