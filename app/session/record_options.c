/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/record_options.h"

#include "app/common/exit.h"
#include "app/common/output_file.h"
#include "app/session/session_tapes.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

void
td_record_options_clear(td_record_options *options) {
  g_free(options->tape);
  g_free(options->anomaly);
  g_free(options->stats);
  g_free(options->policy);
  g_free(options->level);
  td_live_options_clear(&options->live);
  td_steps_choice_clear(&options->steps);
  td_keep_choice_clear(&options->keep);
}

/* Of a process, in the name of its own tape. */
#define NUMBER_MAX 12

static bool
word_is_fine(const char *name, char **value, const char *const *known) {
  if (!*value) *value = g_strdup(known[0]);
  return td_command_check_word("record", name, *value, known);
}

static bool
until_is_fine(const td_record_options *options) {
  if (!options->steps.until || g_strcmp0(options->anomaly, "off") != 0) return true;
  td_command_bad_usage("record", "--until nan looks for NaN, and --anomaly off does not");
  return false;
}

static bool
options_are_fine(td_record_options *options) {
  options->level_is_forced = options->level != NULL;
  if (!options->anomaly) options->anomaly = g_strdup(td_live_anomaly_mode(&options->live));
  if (!options->anomaly) options->anomaly = g_strdup(options->steps.until);
  if (!options->anomaly && options->keep.keep) options->anomaly = g_strdup("nan");
  return td_keep_choice_check("record", &options->keep) &&
         td_steps_choice_check("record", &options->steps) && until_is_fine(options) &&
         word_is_fine("--anomaly", &options->anomaly,
                      (const char *const[]){"off", "nan", "nonfinite", NULL}) &&
         word_is_fine("--stats", &options->stats,
                      (const char *const[]){"off", "finite", "full", NULL}) &&
         word_is_fine("--policy", &options->policy, (const char *const[]){"block", "drop", NULL}) &&
         word_is_fine("--level", &options->level, (const char *const[]){"1", "2", NULL}) &&
         td_live_options_check("record", &options->live);
}

/* The tape's name comes from the script, wherever that stands (torchrun has it late). Without a
 * script it comes from Python's module, and without a module from the program. */
static char *
default_tape(char **command) {
  const char *script = NULL, *module = NULL;
  for (char **word = command + 1; *word && !script; word++)
    if (g_str_has_suffix(*word, ".py"))
      script = *word;
    else if (strcmp(*word, "-m") == 0 && word[1] && !module)
      module = word[1];
  g_autofree char *base = g_path_get_basename(script ? script : module ? module : command[0]);
  if (script) base[strlen(base) - strlen(".py")] = '\0';
  return g_strconcat(base, ".tape", NULL);
}

static bool
nothing_taken(const char *path) {
  td_session_tapes tapes;
  td_session_tapes_init(&tapes, path, false);
  g_autofree char *taken = td_session_tapes_find_taken(&tapes);
  td_session_tapes_fini(&tapes);
  if (!taken) return true;
  g_autofree char *name = td_command_shell_name(taken);
  td_command_fail(name, "exists already; --force overwrites it, -o FILE chooses another");
  return false;
}

/* The folder must be writable, and NAME.tape must be free. The path becomes absolute, because
 * the processes may change their folder. */
static bool
tape_is_free(td_record_options *options, char **command) {
  g_autofree char *given = options->tape ? options->tape : default_tape(command);
  options->tape = g_canonicalize_filename(given, NULL);
  g_autofree char *folder = g_path_get_dirname(options->tape);
  g_autofree char *name = g_path_get_basename(options->tape);
  if (g_file_test(options->tape, G_FILE_TEST_IS_DIR))
    td_command_fail(given, "is a directory");
  else if (td_output_is_special(options->tape))
    td_command_fail(given, "is no regular file");
  else if (strlen(name) > NAME_MAX - NUMBER_MAX)
    td_command_fail(given, "%s", g_strerror(ENAMETOOLONG));
  else if (g_access(folder, W_OK | X_OK) != 0)
    td_command_fail(given, "%s", g_strerror(errno));
  else
    return options->force || nothing_taken(options->tape);
  return false;
}

bool
td_record_options_check(td_record_options *options, char **command) {
  return options_are_fine(options) && !td_command_refuse_tape(command[0]) &&
         tape_is_free(options, command) &&
         td_keep_choice_check_folder(&options->keep, options->tape);
}

void
td_record_options_add_answer(const td_record_options *options, td_line_text *record) {
  td_line_add(record, "policy", options->policy);
  td_line_add(record, "anomaly", options->anomaly);
  td_line_add(record, "stats", options->stats);
  td_line_add(record, "stacks", options->stacks ? "1" : "0");
  td_live_add_answer(&options->live, record);
  td_steps_choice_add_answer(&options->steps, record);
  td_keep_choice_add_answer(&options->keep, record);
}
