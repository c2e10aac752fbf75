/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/diff_report.h"

#include "app/common/exit.h"

void
td_diff_report_fini(td_diff_report *report) {
  td_diff_fini(&report->diff);
  td_tape_close(report->tape_a);
  td_tape_close(report->tape_b);
}

bool
td_diff_report_make(const char *path_a, const char *path_b, const td_diff_wish *wish,
                    td_diff_report *report) {
  td_error error = {0};
  if (td_tape_open(path_a, &report->tape_a, &error) != TD_OK) {
    td_command_file_error(path_a, &error);
  } else if (td_tape_open(path_b, &report->tape_b, &error) != TD_OK) {
    td_command_file_error(path_b, &error);
  } else if (td_diff_make(report->tape_a, report->tape_b, wish, &report->diff, &error) != TD_OK) {
    td_command_file_error(NULL, &error);
  } else {
    return true;
  }
  td_diff_report_fini(report);
  return false;
}

bool
td_diff_report_is_equal(const td_diff_report *report) {
  return report->diff.equal_order && report->diff.comparison.values.list.n_added == 0;
}
