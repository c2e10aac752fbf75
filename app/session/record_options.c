/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/record_options.h"

#include "app/common/output_file.h"
#include "app/common/shell_name.h"
#include "app/common/word_list.h"
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

typedef struct word_option {
  const char *name;
  char **value;
  const char *const *known; /* the first is the default */
} word_option;

static td_status
check_words(td_record_options *options, td_error *error) {
  const word_option words[] = {
      {"--anomaly", &options->anomaly, (const char *const[]){"off", "nan", "nonfinite", NULL}},
      {"--stats", &options->stats, (const char *const[]){"off", "finite", "full", NULL}},
      {"--policy", &options->policy, (const char *const[]){"block", "drop", NULL}},
      {"--level", &options->level, (const char *const[]){"1", "2", NULL}},
  };
  td_status status = TD_OK;
  for (guint i = 0; i < G_N_ELEMENTS(words) && !status; i++) {
    if (!*words[i].value) *words[i].value = g_strdup(words[i].known[0]);
    status = td_word_list_check(words[i].name, *words[i].value, words[i].known, error);
  }
  return status;
}

static td_status
check_until(const td_record_options *options, td_error *error) {
  if (!options->steps.until || g_strcmp0(options->anomaly, "off") != 0) return TD_OK;
  return td_error_set(error, TD_INVALID, "--until nan looks for NaN, and --anomaly off does not");
}

td_status
td_record_options_check(td_record_options *options, const td_announcer *announcer,
                        td_error *error) {
  options->level_is_forced = options->level != NULL;
  if (!options->anomaly) options->anomaly = g_strdup(td_live_anomaly_mode(&options->live));
  if (!options->anomaly) options->anomaly = g_strdup(options->steps.until);
  if (!options->anomaly && options->keep.keep) options->anomaly = g_strdup("nan");
  td_status status = td_keep_choice_check(&options->keep, error);
  if (!status) status = td_steps_choice_check(&options->steps, error);
  if (!status) status = check_until(options, error);
  if (!status) status = check_words(options, error);
  return status ? status : td_live_options_check(&options->live, announcer, error);
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

static td_status
check_taken(const char *path, td_error *error) {
  td_session_tapes tapes;
  td_session_tapes_init(&tapes, path, false);
  g_autofree char *taken = td_session_tapes_find_taken(&tapes);
  td_session_tapes_fini(&tapes);
  if (!taken) return TD_OK;
  g_autofree char *name = td_shell_name(taken);
  return td_error_set(error, TD_IO,
                      "%s: exists already; --force overwrites it, -o FILE chooses another", name);
}

/* Why no tape can be at a path, or NULL. */
static const char *
find_obstacle(const char *path) {
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *name = g_path_get_basename(path);
  if (g_file_test(path, G_FILE_TEST_IS_DIR)) return "is a directory";
  if (td_output_is_special(path)) return "is no regular file";
  if (strlen(name) > NAME_MAX - NUMBER_MAX) return g_strerror(ENAMETOOLONG);
  return g_access(folder, W_OK | X_OK) ? g_strerror(errno) : NULL;
}

/* The folder must be writable, and NAME.tape must be free. The path becomes absolute, because
 * the processes may change their folder. */
td_status
td_record_options_place(td_record_options *options, char **command, td_error *error) {
  g_autofree char *given = options->tape ? options->tape : default_tape(command);
  options->tape = g_canonicalize_filename(given, NULL);
  const char *obstacle = find_obstacle(options->tape);
  if (obstacle) return td_error_set(error, TD_IO, "%s: %s", given, obstacle);
  td_status status = options->force ? TD_OK : check_taken(options->tape, error);
  return status ? status : td_keep_choice_check_folder(&options->keep, options->tape, error);
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
