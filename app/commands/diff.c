/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/print/diff_by.h"
#include "app/print/diff_report.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SHOWN_DURATIONS 100 /* in JSON */
#define NOT_GIVEN (-DBL_MAX)

/* All that differs is in JSON. */
static td_diff_wish
wish_of(double tolerance, bool as_json) {
  uint32_t n = as_json ? UINT32_MAX : TD_DIFF_SHOWN;
  return (td_diff_wish){
      .tolerance = tolerance, .n_nodes = n, .n_values = n, .n_durations = SHOWN_DURATIONS};
}

static int
diff(const char *path_a, const char *path_b, double tolerance, bool as_json) {
  td_diff_report report = {0};
  td_diff_wish wish = wish_of(tolerance, as_json);
  if (!td_diff_report_make(path_a, path_b, &wish, &report)) return TD_EXIT_USAGE;
  (as_json ? td_diff_print_json : td_diff_print_text)(&report);
  int status = td_diff_report_is_equal(&report) ? TD_EXIT_OK : TD_EXIT_BAD;
  td_diff_report_fini(&report);
  return status;
}

static int
print_by(td_tape *a, td_tape *b, td_report_by by, bool as_json) {
  td_error error = {0};
  td_diff_by found;
  int status = TD_EXIT_OK;
  if (td_diff_by_make(a, b, by, &found, &error))
    status = td_command_file_error(NULL, &error);
  else if (as_json)
    td_diff_by_print_json(&found, by);
  else
    td_diff_by_print_text(a, b, &found, by);
  td_diff_by_fini(&found);
  return status;
}

/* Times always differ, so this is no failure. */
static int
diff_by(const char *path_a, const char *path_b, td_report_by by, bool as_json) {
  td_error error = {0};
  td_tape *a, *b;
  if (td_tape_open(path_a, &a, &error)) return td_command_file_error(path_a, &error);
  if (td_tape_open(path_b, &b, &error)) {
    td_tape_close(a);
    return td_command_file_error(path_b, &error);
  }
  int status = print_by(a, b, by, as_json);
  td_tape_close(a);
  td_tape_close(b);
  return status;
}

/* TD_N_REPORT_BYS if nodes cannot be grouped so. */
static td_report_by
find_by(const char *name) {
  const char *words[TD_N_REPORT_BYS + 1] = {0};
  td_report_by found = TD_N_REPORT_BYS;
  int n = 0;
  for (int i = 0; i < TD_N_REPORT_BYS; i++) {
    if (!td_diff_by_has((td_report_by)i)) continue;
    words[n++] = td_report_by_name((td_report_by)i);
    if (strcmp(words[n - 1], name) == 0) found = (td_report_by)i;
  }
  td_command_check_word("diff", "--by", name, words);
  return found;
}

typedef struct options {
  gchar *by;
  gdouble tolerance; /* or NOT_GIVEN */
  gboolean json;
} options;

static int
run(const char *path_a, const char *path_b, const options *options) {
  if (options->by && options->tolerance != NOT_GIVEN)
    return td_command_bad_usage("diff", "--tolerance: does not go with --by");
  if (options->by) {
    td_report_by by = find_by(options->by);
    return by == TD_N_REPORT_BYS ? TD_EXIT_USAGE : diff_by(path_a, path_b, by, options->json);
  }
  double tolerance = options->tolerance == NOT_GIVEN ? 1e-6 : options->tolerance;
  if (!(tolerance >= 0 && isfinite(tolerance)))
    return td_command_bad_usage("diff", "--tolerance: must be a number from 0 up, such as 1e-6");
  return diff(path_a, path_b, tolerance, options->json);
}

int
td_command_diff(int argc, char **argv) {
  options options = {.tolerance = NOT_GIVEN};
  const GOptionEntry entries[] = {
      {"by", 0, 0, G_OPTION_ARG_STRING, &options.by,
       "Compare the time of each op, module or line, over all passes", "WHAT"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON document", NULL},
      {"tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &options.tolerance,
       "How far values may differ, as a share of their magnitude (default: 1e-6)", "SHARE"},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (td_command_parse("diff", entries, false, 2, 2, &argc, &argv, &status))
    status = run(argv[1], argv[2], &options);
  g_free(options.by);
  return status;
}
