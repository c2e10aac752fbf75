/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/diff_report.h"

#include <math.h>

#define SHOWN_DURATIONS 100 /* in JSON */

static void
report_fini(td_diff_report *report) {
  td_diff_fini(&report->diff);
  td_tape_close(report->tape_a);
  td_tape_close(report->tape_b);
}

/* All that differs is in JSON. */
static td_diff_wish
wish_of(double tolerance, bool as_json) {
  uint32_t n = as_json ? UINT32_MAX : TD_DIFF_SHOWN;
  return (td_diff_wish){
      .tolerance = tolerance, .n_nodes = n, .n_values = n, .n_durations = SHOWN_DURATIONS};
}

static bool
are_equal(const td_diff *diff) {
  return diff->equal_order && diff->comparison.values.list.n_added == 0;
}

static int
diff(const char *path_a, const char *path_b, double tolerance, bool as_json) {
  td_diff_report report = {0};
  td_diff_wish wish = wish_of(tolerance, as_json);
  td_error error = {0};
  int exit_status = TD_EXIT_USAGE;
  if (td_tape_open(path_a, &report.tape_a, &error) != TD_OK) {
    td_command_file_error(path_a, &error);
  } else if (td_tape_open(path_b, &report.tape_b, &error) != TD_OK) {
    td_command_file_error(path_b, &error);
  } else if (td_diff_make(report.tape_a, report.tape_b, &wish, &report.diff, &error) != TD_OK) {
    td_command_file_error(NULL, &error);
  } else {
    (as_json ? td_diff_print_json : td_diff_print_text)(&report);
    exit_status = are_equal(&report.diff) ? TD_EXIT_OK : TD_EXIT_BAD;
  }
  report_fini(&report);
  return exit_status;
}

int
td_command_diff(int argc, char **argv) {
  gboolean as_json = FALSE;
  double tolerance = 1e-6;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL},
      {"tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &tolerance,
       "How far values may differ, as a share of their magnitude (default: 1e-6)", "SHARE"},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (!td_command_parse("diff", entries, false, 2, 2, &argc, &argv, &status)) return status;
  if (!(tolerance >= 0 && isfinite(tolerance)))
    return td_command_bad_usage("diff", "--tolerance: must be a number from 0 up, such as 1e-6");
  return diff(argv[1], argv[2], tolerance, as_json);
}
