/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck run`: checks what can be checked, starts Python on tapedeck/runner.py, which runs the
 * script and records it, and says at the end where the tape is. */
#include "app/child.h"
#include "app/command.h"
#include "app/examples.h"
#include "app/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct run_options {
  char *tape, *devices, *anomaly, *policy, *scheduler, *stats, *condition, *seed; /* (owned) */
  gboolean force, live;
  char *script; /* (owned) the script's path */
} run_options;

static void
options_clear(run_options *options) {
  g_free(options->tape);
  g_free(options->devices);
  g_free(options->anomaly);
  g_free(options->policy);
  g_free(options->scheduler);
  g_free(options->stats);
  g_free(options->condition);
  g_free(options->seed);
  g_free(options->script);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(run_options, options_clear)

/* An option with a closed set of words: `known` are all that mean something, the first
 * `n_supported` of them can be had. NULL means the first. */
typedef struct word_option {
  const char *name;
  char **value;
  const char *const *known;
  guint n_supported;
} word_option;

static bool
word_is_fine(const word_option *option) {
  if (!*option->value) *option->value = g_strdup(option->known[0]);
  for (guint i = 0; option->known[i]; i++) {
    if (strcmp(option->known[i], *option->value) != 0) continue;
    if (i < option->n_supported) return true;
    td_command_bad_usage("run", "--%s %s is not supported yet", option->name, *option->value);
    return false;
  }
  g_autofree char *words = g_strjoinv(", ", (char **)option->known);
  td_command_bad_usage("run", "--%s '%s': must be one of %s", option->name, *option->value, words);
  return false;
}

static bool
words_are_fine(run_options *options) {
  const word_option words[] = {
      {"anomaly", &options->anomaly, (const char *const[]){"off", "nan", "nonfinite", NULL}, 3},
      {"policy", &options->policy, (const char *const[]){"block", "drop", NULL}, 2},
      {"scheduler", &options->scheduler, (const char *const[]){"engine", "2017", NULL}, 1},
      {"stats", &options->stats, (const char *const[]){"off", "finite", "full", NULL}, 1},
  };
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (!word_is_fine(&words[i])) return false;
  return true;
}

static bool
seed_is_fine(const run_options *options) {
  guint64 value;
  if (!options->seed || g_ascii_string_to_unsigned(options->seed, 10, 0, G_MAXUINT64, &value, NULL))
    return true;
  td_command_bad_usage("run", "--seed '%s': must be a whole number", options->seed);
  return false;
}

static bool
options_are_fine(run_options *options) {
  if (options->live)
    td_command_bad_usage("run", "--live is not supported yet");
  else if (options->condition)
    td_command_bad_usage("run", "--break is not supported yet");
  else
    return words_are_fine(options) && seed_is_fine(options);
  return false;
}

/* A file of that name, else an example of that name. */
static bool
find_script(const char *argument, run_options *options) {
  GStatBuf file;
  int reason = g_stat(argument, &file) ? errno : S_ISDIR(file.st_mode) ? EISDIR : 0;
  if (!reason) {
    options->script = g_strdup(argument);
    return true;
  }
  g_autoptr(td_example) example = td_example_find(argument);
  if (!example) {
    td_command_fail(argument, "%s, and no example of that name (see tapedeck examples)",
                    g_strerror(reason));
    return false;
  }
  options->script = g_steal_pointer(&example->path);
  if (!options->devices) options->devices = g_steal_pointer(&example->devices);
  return true;
}

static bool
script_is_readable(const run_options *options) {
  if (access(options->script, R_OK) == 0) return true;
  td_command_fail(options->script, "%s", g_strerror(errno));
  return false;
}

static char *
default_tape(const char *script) {
  g_autofree char *name = g_path_get_basename(script);
  if (g_str_has_suffix(name, ".py")) name[strlen(name) - strlen(".py")] = '\0';
  return g_strconcat(name, ".tape", NULL);
}

static bool
tape_is_free(run_options *options) {
  if (!options->tape) options->tape = default_tape(options->script);
  GStatBuf file;
  bool exists = g_stat(options->tape, &file) == 0;
  if (exists && S_ISDIR(file.st_mode)) {
    td_command_fail(options->tape, "is a directory");
    return false;
  }
  if (options->force || !exists) return true;
  td_command_fail(options->tape, "exists already; --force overwrites it, -o FILE chooses another");
  return false;
}

/* The arguments of runner.py, in its order. */
static char **
child_arguments(const run_options *options, int report, char **script_args) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  g_autofree char *runner = g_build_filename(td_path_module(), "runner.py", NULL);
  g_autofree char *source = g_path_get_basename(options->script);
  g_autofree char *number = g_strdup_printf("%d", report);
  g_strv_builder_add_many(
      builder, td_path_python(), runner, number, options->tape, options->force ? "1" : "0", source,
      options->devices ? options->devices : "cpu", options->anomaly, options->policy,
      options->seed ? options->seed : "", options->script, NULL);
  g_strv_builder_addv(builder, (const char **)script_args);
  return g_strv_builder_end(builder);
}

/* What runner.py reported: nothing where it was killed. */
static char *
read_report(int fd) {
  char text[4096];
  fcntl(fd, F_SETFL, O_NONBLOCK);
  ssize_t n = read(fd, text, sizeof text);
  return g_strndup(text, n > 0 ? (gsize)n : 0);
}

/* A tape's name in a command to type next. */
static char *
quoted(const char *path) {
  return strspn(path, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "/._-+=:,@%") == strlen(path)
             ? g_strdup(path)
             : g_shell_quote(path);
}

static int
conclude(const run_options *options, const char *report, int status) {
  const char *words = strchr(report, ' ');
  words = words ? words + 1 : "";
  if (g_str_has_prefix(report, "usage ")) return td_command_bad_usage("run", "%s", words);
  if (g_str_has_prefix(report, "failed ")) {
    td_command_fail(options->tape, "%s", words);
    return status ? status : TD_EXIT_FAILED;
  }
  g_autofree char *name = quoted(options->tape);
  if (strcmp(report, "ok") == 0)
    fprintf(stderr, "tapedeck: recorded %s; see it with: tapedeck open %s\n", name, name);
  else if (access(options->tape, F_OK) == 0)
    fprintf(
        stderr,
        "tapedeck: %s was not finished, for the program ended abruptly (status %d); see what is "
        "there with: tapedeck info %s\n",
        name, status, name);
  else
    fprintf(stderr, "tapedeck: no tape was made, for the program ended abruptly (status %d)\n",
            status);
  return status;
}

static int
run(const run_options *options, char **script_args) {
  int report[2];
  g_autofree char *problem = NULL;
  if (pipe2(report, O_CLOEXEC)) {
    td_command_fail(options->script, "%s", g_strerror(errno));
    return TD_EXIT_FAILED;
  }
  fcntl(report[1], F_SETFD, 0);
  g_auto(GStrv) argv = child_arguments(options, report[1], script_args);
  int status = td_child_run(argv, &problem);
  g_autofree char *text = read_report(report[0]);
  close(report[0]);
  close(report[1]);
  if (!problem) return conclude(options, text, status);
  td_command_fail(options->script, "%s", problem);
  return status;
}

int
td_command_run(int argc, char **argv) {
  g_auto(run_options) options = {0};
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.tape,
       "Where the tape goes (default: SCRIPT.tape here)", "FILE"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force, "Overwrite a tape that exists", NULL},
      {"devices", 0, 0, G_OPTION_ARG_STRING, &options.devices,
       "The CPU and simulated accelerators (default: cpu, or what the example asks for)",
       "cpu,sim:N"},
      {"anomaly", 0, 0, G_OPTION_ARG_STRING, &options.anomaly,
       "What is looked for in every gradient and sum: off, nan, nonfinite", "WHAT"},
      {"policy", 0, 0, G_OPTION_ARG_STRING, &options.policy,
       "When the recorder is behind: block (wait) or drop", "POLICY"},
      {"seed", 0, 0, G_OPTION_ARG_STRING, &options.seed, "Start the random numbers from N", "N"},
      {"scheduler", 0, 0, G_OPTION_ARG_STRING, &options.scheduler,
       "engine; 2017 is not supported yet", "NAME"},
      {"stats", 0, 0, G_OPTION_ARG_STRING, &options.stats,
       "off; finite and full are not supported yet", "WHAT"},
      {"break", 0, 0, G_OPTION_ARG_STRING, &options.condition, "Not supported yet", "CONDITION"},
      {"live", 0, 0, G_OPTION_ARG_NONE, &options.live, "Not supported yet", NULL},
      {0}};
  int status;
  if (!td_command_parse("run", entries, true, 1, -1, &argc, &argv, &status)) return status;
  if (!options_are_fine(&options) || !find_script(argv[1], &options) ||
      !script_is_readable(&options) || !tape_is_free(&options))
    return TD_EXIT_USAGE;
  return run(&options, argv + 2);
}
