/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/report.h"
#include "app/command.h"
#include "app/common/moment.h"
#include "app/print/contention.h"
#include "app/print/critical.h"
#include "app/print/idle.h"
#include "app/print/memory.h"

#include <string.h>

typedef struct options {
  gchar *by, *sort;
  gint64 pass, skip_first;
  uint32_t graph_task; /* of `pass` */
  gboolean contention, critical, idle, memory, json, csv;
} options;

/* TD_N_REPORT_BYS if there is no such grouping. */
static td_report_by
find_by(const char *name) {
  const char *words[TD_N_REPORT_BYS + 1] = {0};
  td_report_by found = TD_N_REPORT_BYS;
  for (int i = 0; i < TD_N_REPORT_BYS; i++) {
    words[i] = td_report_by_name((td_report_by)i);
    if (strcmp(words[i], name) == 0) found = (td_report_by)i;
  }
  td_command_check_word("report", "--by", name, words);
  return found;
}

static int
print(const char *path, td_tape *tape, const options *options, const td_report_wish *wish) {
  td_error error = {0};
  td_report report;
  td_late_rank late = {0};
  bool is_by_rank = wish->by == TD_REPORT_BY_rank;
  int status = TD_EXIT_OK;
  if (td_report_make(tape, wish, &report, &error) ||
      (is_by_rank && td_late_rank_make(tape, &late, &error)))
    status = td_command_file_error(path, &error);
  else if (options->sort && !td_report_sort(&report, options->sort))
    status = td_command_bad_usage(
        "report", "--sort '%s': must be key, n, self, total, share, p50, p95 or max",
        options->sort);
  else if (options->json)
    td_report_print_json(&report, wish->by, is_by_rank ? &late : NULL);
  else if (options->csv)
    td_report_print_csv(&report, wish->by);
  else
    td_report_print_text(path, &report, wish->by, &late);
  td_late_rank_fini(&late);
  td_report_fini(&report);
  return status;
}

/* A report that has no rows by a key: `made` makes it in `it`. It is printed and freed. */
#define OTHER(name, type, made, fini)                                                              \
  static int print_##name(const char *path, td_tape *tape, const options *options) {               \
    td_error error = {0};                                                                          \
    g_autofree type *it = g_new(type, 1);                                                          \
    int status = TD_EXIT_OK;                                                                       \
    if (made)                                                                                      \
      status = td_command_file_error(path, &error);                                                \
    else if (options->json)                                                                        \
      td_##name##_print_json(it);                                                                  \
    else                                                                                           \
      td_##name##_print_text(path, it);                                                            \
    fini(it);                                                                                      \
    return status;                                                                                 \
  }
OTHER(critical, td_critical_report, td_critical_report_make(tape, options->graph_task, it, &error),
      td_critical_report_fini)
OTHER(contention, td_contention, td_contention_make(tape, options->graph_task, NULL, it, &error),
      td_contention_fini)
OTHER(idle, td_idle, td_idle_make(tape, options->graph_task, NULL, it, &error), td_idle_fini)
OTHER(memory, td_memory, td_memory_make(tape, options->graph_task, NULL, it, &error),
      td_memory_fini)

static const struct other_report {
  const char *name;
  size_t option; /* its place in the options */
  int (*print)(const char *path, td_tape *tape, const options *options);
} others[] = {{"--contention", offsetof(options, contention), print_contention},
              {"--critical", offsetof(options, critical), print_critical},
              {"--idle", offsetof(options, idle), print_idle},
              {"--memory", offsetof(options, memory), print_memory}};

/* Writes the report that is wished, or NULL for one with rows. */
static int
find_other(const options *options, const struct other_report **found) {
  *found = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    if (!G_STRUCT_MEMBER(gboolean, options, others[i].option)) continue;
    if (*found)
      return td_command_bad_usage("report", "%s and %s: only one of them", (*found)->name,
                                  others[i].name);
    *found = &others[i];
  }
  bool has_rows = options->by || options->sort || options->csv || options->skip_first;
  if (*found && has_rows)
    return td_command_bad_usage("report", "%s goes with --pass and --json alone", (*found)->name);
  return TD_EXIT_OK;
}

static int
report(const char *path, const options *options) {
  td_error error = {0};
  td_tape *tape;
  const struct other_report *other;
  td_report_wish wish = {.by = find_by(options->by ? options->by : "op"),
                         .graph_task = options->graph_task};
  if (wish.by == TD_N_REPORT_BYS) return TD_EXIT_USAGE;
  if (find_other(options, &other)) return TD_EXIT_USAGE;
  if (options->json && options->csv)
    return td_command_bad_usage("report", "--json and --csv: only one of them");
  if (options->skip_first < 0 || options->skip_first > G_MAXUINT32)
    return td_command_bad_usage("report", "--skip-first: must be a number from 0 up");
  wish.skip_first = (uint32_t)options->skip_first;
  if (td_tape_open(path, &tape, &error)) return td_command_file_error(path, &error);
  int status = other ? other->print(path, tape, options) : print(path, tape, options, &wish);
  td_tape_close(tape);
  return status;
}

int
td_command_report(int argc, char **argv) {
  options options = {.pass = TD_MOMENT_NO_PASS};
  const GOptionEntry entries[] = {
      {"by", 0, 0, G_OPTION_ARG_STRING, &options.by,
       "A row for each op, module, line, node, thread, queue, lock, hook, pass or rank", "WHAT"},
      {"contention", 0, 0, G_OPTION_ARG_NONE, &options.contention,
       "Who waited for which lock, who held it, and how long tasks lay in queues", NULL},
      {"critical", 0, 0, G_OPTION_ARG_NONE, &options.critical,
       "The longest path of a pass, and how much longer each node could take", NULL},
      {"idle", 0, 0, G_OPTION_ARG_NONE, &options.idle,
       "What each thread did while a pass was under way, and for whom it waited", NULL},
      {"memory", 0, 0, G_OPTION_ARG_NONE, &options.memory,
       "What saved tensors, input buffers and gradients hold in memory, and who holds most", NULL},
      {"pass", 0, 0, G_OPTION_ARG_INT64, &options.pass, "Only this backward pass", "N"},
      {"skip-first", 0, 0, G_OPTION_ARG_INT64, &options.skip_first,
       "Leave out so many backward passes", "N"},
      {"sort", 0, 0, G_OPTION_ARG_STRING, &options.sort, "Order the rows by a column of --csv",
       "COLUMN"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL},
      {"csv", 0, 0, G_OPTION_ARG_NONE, &options.csv, "Print a table of comma-separated values",
       NULL},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (td_command_parse("report", entries, false, 1, 1, &argc, &argv, &status))
    status = td_moment_pass_read("report", options.pass, &options.graph_task)
                 ? report(argv[1], &options)
                 : TD_EXIT_USAGE;
  g_free(options.by);
  g_free(options.sort);
  return status;
}
