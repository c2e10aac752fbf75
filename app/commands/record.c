/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/print/line_announcer.h"
#include "app/print/record_report.h"

#include <string.h>
#include <unistd.h>

static bool
are_fine(td_record_options *options, char **command) {
  td_error error = {0};
  td_status status = td_record_options_check(options, td_line_announcer_get(), &error);
  if (!status && td_command_refuse_tape(command[0])) return false;
  if (!status) status = td_record_options_place(options, command, &error);
  if (status) td_command_refuse("record", &error);
  return !status;
}

static int
run(const td_record_options *options, char **command) {
  td_record_result result = {0};
  td_record_session_run(options, command, td_line_announcer_get(), &result);
  td_record_report_print(&result, options, command[0]);
  int status = result.status;
  td_record_result_fini(&result);
  return status;
}

int
td_command_record(int argc, char **argv) {
  g_auto(td_record_options) options = {.to_program = STDOUT_FILENO, .from_program = STDIN_FILENO};
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.tape,
       "Where the tape goes (default: SCRIPT.tape here)", "FILE"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force, "Overwrite a tape that exists", NULL},
      {"policy", 0, 0, G_OPTION_ARG_STRING, &options.policy,
       "If the recorder is too slow: block (wait) or drop (lose events)", "POLICY"},
      {"anomaly", 0, 0, G_OPTION_ARG_STRING, &options.anomaly,
       "What to look for in every gradient and sum: off, nan, nonfinite", "WHAT"},
      {"stats", 0, 0, G_OPTION_ARG_STRING, &options.stats,
       "What to measure of every gradient: off, finite (counts of NaN and Inf), full", "WHAT"},
      {"stacks", 0, 0, G_OPTION_ARG_NONE, &options.stacks,
       "Remember which line of the forward pass made each node", NULL},
      {"no-compile", 0, 0, G_OPTION_ARG_NONE, &options.no_compile,
       "Run the program without torch.compile, so that each operation is on the tape", NULL},
      {"level", 0, 0, G_OPTION_ARG_STRING, &options.level,
       "1, inside the engine (the default, if possible); 2, PyTorch's public hooks", "LEVEL"},
      {"inside", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.inside, NULL, NULL},
      TD_STEPS_ENTRIES(options.steps),
      TD_KEEP_ENTRIES(options.keep),
      TD_LIVE_ENTRIES(options.live),
      {0}};
  int status;
  if (!td_command_parse("record", entries, true, 1, -1, &argc, &argv, &status)) return status;
  char **command = argv + 1;
  if (strcmp(command[0], "--") == 0) command++;
  if (!command[0]) return td_command_bad_usage("record", "COMMAND is missing");
  return are_fine(&options, command) ? run(&options, command) : TD_EXIT_USAGE;
}
