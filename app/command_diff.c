/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/diff_report.h"
#include "engine/replay/catalog_collect.h"

#include <math.h>

static void
report_fini(td_diff_report *report) {
  td_align_durations_fini(&report->durations);
  td_align_values_fini(&report->values);
  td_align_names_fini(&report->names);
  td_divergence_fini(&report->divergence);
  td_align_fini(&report->align);
  td_catalog_free(report->graph_a);
  td_catalog_free(report->graph_b);
  td_tape_close(report->tape_a);
  td_tape_close(report->tape_b);
}

static td_status
open_tape(const char *path, td_tape **tape, td_catalog **catalog, td_error *error) {
  td_status status = td_tape_open(path, tape, error);
  return status == TD_OK ? td_catalog_collect_whole(*tape, catalog, error) : status;
}

static td_status
compare(td_diff_report *report, td_error *error) {
  td_align *align = &report->align;
  td_status status = td_align_tapes(report->tape_a, report->graph_a, report->tape_b,
                                    report->graph_b, align, error);
  if (status == TD_OK && align->diverges)
    status =
        td_divergence_explain(align, report->tape_a, report->tape_b, &report->divergence, error);
  if (status == TD_OK) status = td_align_durations_collect(align, &report->durations);
  if (status != TD_OK) return status;
  td_align_names_collect(align, &report->names);
  td_align_values_collect(align, report->tolerance, &report->values);
  return TD_OK;
}

static bool
are_equal(const td_diff_report *report) {
  return report->align.equal_order && report->values.n == 0;
}

static int
diff(const char *path_a, const char *path_b, double tolerance, bool as_json) {
  td_diff_report report = {.tolerance = tolerance};
  td_error error = {0};
  int exit_status = TD_EXIT_USAGE;
  if (open_tape(path_a, &report.tape_a, &report.graph_a, &error) != TD_OK) {
    td_command_file_error(path_a, &error);
  } else if (open_tape(path_b, &report.tape_b, &report.graph_b, &error) != TD_OK) {
    td_command_file_error(path_b, &error);
  } else if (compare(&report, &error) != TD_OK) {
    td_command_file_error(NULL, &error);
  } else {
    (as_json ? td_diff_print_json : td_diff_print_text)(&report);
    exit_status = are_equal(&report) ? TD_EXIT_OK : TD_EXIT_BAD;
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
