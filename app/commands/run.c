/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck run`: checks the arguments and starts Python on tapedeck/runner.py, which runs the
 * script and records it. At the end it says where the tape is. */
#include "app/command.h"
#include "app/commands/beside.h"
#include "app/common/child.h"
#include "app/common/examples.h"
#include "app/common/output_file.h"
#include "app/common/paths.h"
#include "app/common/shell_name.h"
#include "app/print/line_announcer.h"
#include "app/session/keep_session.h"
#include "app/session/live.h"
#include "engine/control/link.h"
#include "engine/replay/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct run_options {
  char *tape, *devices, *anomaly, *policy, *scheduler, *semantics, *stats, *seed, *schedule,
      *beside; /* (owned) */
  gboolean force;
  td_live_options live;
  td_keep_choice keep;
  char *script; /* (owned) the script's path */
} run_options;

static void
options_clear(run_options *options) {
  g_free(options->tape);
  g_free(options->devices);
  g_free(options->anomaly);
  g_free(options->policy);
  g_free(options->scheduler);
  g_free(options->semantics);
  g_free(options->stats);
  g_free(options->seed);
  g_free(options->schedule);
  g_free(options->beside);
  g_free(options->script);
  td_live_options_clear(&options->live);
  td_keep_choice_clear(&options->keep);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(run_options, options_clear)

/* An option with a fixed set of words. NULL means the first. */
typedef struct word_option {
  const char *name;
  char **value;
  const char *const *known;
} word_option;

static bool
words_are_fine(run_options *options) {
  const word_option words[] = {
      {"--anomaly", &options->anomaly, (const char *const[]){"off", "nan", "nonfinite", NULL}},
      {"--policy", &options->policy, (const char *const[]){"block", "drop", NULL}},
      {"--scheduler", &options->scheduler,
       (const char *const[]){"engine", "2017", "2017-fifo", NULL}},
      {"--semantics", &options->semantics, (const char *const[]){"2.15", "2.13", "1.11", NULL}},
      {"--stats", &options->stats, (const char *const[]){"off", "finite", "full", NULL}},
  };
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    if (!*words[i].value) *words[i].value = g_strdup(words[i].known[0]);
    if (!td_command_check_word("run", words[i].name, *words[i].value, words[i].known)) return false;
  }
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

/* Both runs come to their end, and PyTorch has one scheduler. */
static bool
beside_is_fine(const run_options *options) {
  const char *other = options->live.live    ? "--live"
                      : options->keep.words ? "--keep"
                      : options->schedule   ? "--schedule"
                      : options->scheduler  ? "--scheduler"
                                            : NULL;
  if (!options->beside || !other) return true;
  td_command_bad_usage("run", "%s: does not go with --beside", other);
  return false;
}

static bool
options_are_fine(run_options *options) {
  td_error error = {0};
  if (td_live_options_check(&options->live, td_line_announcer_get(), &error) ||
      td_keep_choice_check(&options->keep, &error)) {
    td_command_refuse("run", &error);
    return false;
  }
  if (!beside_is_fine(options)) return false;
  if (!options->anomaly) options->anomaly = g_strdup(td_live_anomaly_mode(&options->live));
  if (!options->anomaly && options->keep.words) options->anomaly = g_strdup("nan");
  return words_are_fine(options) && seed_is_fine(options);
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
  if (!options->anomaly) options->anomaly = g_steal_pointer(&example->anomaly);
  return true;
}

static bool
script_is_readable(const run_options *options) {
  if (td_command_refuse_tape(options->script)) return false;
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
  if (g_file_test(options->tape, G_FILE_TEST_IS_DIR)) {
    td_command_fail(options->tape, "is a directory");
    return false;
  }
  td_error error = {0};
  if (td_keep_choice_check_folder(&options->keep, options->tape, &error)) {
    td_command_refuse("run", &error);
    return false;
  }
  if (options->force || !td_output_is_taken(options->tape)) return true;
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
  g_strv_builder_add_many(builder, td_path_python(), runner, td_path_engine(), number,
                          options->tape, options->force ? "1" : "0", source,
                          options->devices ? options->devices : "cpu", options->anomaly,
                          options->stats, options->policy, options->seed ? options->seed : "",
                          options->semantics, options->scheduler,
                          options->schedule ? options->schedule : "", options->script, NULL);
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

static int
conclude(const run_options *options, const char *report, int status) {
  const char *words = strchr(report, ' ');
  words = words ? words + 1 : "";
  if (g_str_has_prefix(report, "usage ")) return td_command_bad_usage("run", "%s", words);
  if (g_str_has_prefix(report, "failed ")) {
    td_command_fail(options->tape, "%s", words);
    return status ? status : TD_EXIT_FAILED;
  }
  if (g_str_has_prefix(report, "cut ")) {
    bool is_left = access(options->tape, F_OK) == 0;
    td_command_fail(options->tape, is_left ? "%s; the tape has what came before" : "%s", words);
    return status ? status : TD_EXIT_FAILED;
  }
  g_autofree char *name = td_shell_name(options->tape);
  if (strcmp(report, "ok") == 0) {
    (void)td_segments_add(options->tape, TD_SEGMENT_EVENTS,
                          NULL); /* a tape without a table is as good */
    fprintf(stderr, "tapedeck: recorded %s; see it with: tapedeck %s %s\n", name,
            td_command_to_see(), name);
  } else if (access(options->tape, F_OK) == 0)
    fprintf(
        stderr,
        "tapedeck: %s is not complete, because the program ended abruptly (status %d); see what it "
        "has with: tapedeck info %s\n",
        name, status, name);
  else
    fprintf(stderr, "tapedeck: there is no tape, because the program ended abruptly (status %d)\n",
            status);
  return status;
}

/* A run whose process has a session: for a window, or for a flight recorder. */
typedef struct session {
  const run_options *options;
  td_hub *hub;
  td_child_options child;
  td_keep_session keep;
} session;

static void
hello_cb(td_hub_target *target, const td_line *hello, void *data) {
  const run_options *options = ((session *)data)->options;
  td_line_text answer;
  td_line_begin(&answer, "record");
  td_live_add_answer(&options->live, &answer);
  td_line_add(&answer, "limit", options->keep.keep);
  td_hub_target_answer(target, &answer);
  td_line_text_fini(&answer);
}

static void
said_cb(td_hub_target *target, const td_line *line, void *data) {
  session *self = data;
  const char *tape = td_line_is(line, "tape") ? td_line_find(line, "path") : NULL;
  if (tape) td_live_show(&self->options->live, target, tape, td_line_announcer_get());
  td_keep_session_said(&self->keep, self->keep.tape, line);
}

static void
dump_cb(td_hub_target *asker, void *data) {
  td_keep_session_dump(&((session *)data)->keep, asker);
}

/* Ctrl+C is for the program, which may be waiting for the window. */
static void
signalled_cb(int number, void *data) {
  session *self = data;
  if (!td_keep_session_signalled(&self->keep, number)) td_hub_detach(self->hub, 0);
}

static int
run_with_session(const run_options *options, char **argv, char **problem) {
  session self = {.options = options};
  g_autofree char *tape = g_canonicalize_filename(options->tape, NULL);
  const td_hub_owner owner = {.hello = hello_cb, .said = said_cb, .dump = dump_cb, .data = &self};
  self.hub = td_hub_new(&owner, problem);
  if (!self.hub) return TD_EXIT_FAILED;
  g_auto(GStrv) environment =
      g_environ_setenv(g_get_environ(), TD_LINK_VARIABLE, td_hub_get_path(self.hub), TRUE);
  self.child = (td_child_options){
      .argv = argv, .environment = environment, .signalled = signalled_cb, .data = &self};
  self.keep = (td_keep_session){&options->keep, tape, &self.child, td_line_announcer_get(), NULL};
  td_keep_session_begin(&self.keep);
  int status = td_child_run(&self.child, problem);
  while (g_main_context_iteration(NULL, FALSE)) /* what the process said last */
    continue;
  if (self.keep.flight) td_flight_end_tape(self.keep.flight, tape);
  td_keep_session_end(&self.keep);
  td_hub_free(self.hub);
  return status;
}

static int
run_beside(const run_options *options, bool semantics_given, char **script_args) {
  const td_beside beside = {.python = options->beside,
                            .script = options->script,
                            .tape = options->tape,
                            .seed = options->seed ? options->seed : "0",
                            .stats = options->stats,
                            .anomaly = options->anomaly,
                            .semantics = semantics_given ? options->semantics : NULL,
                            .devices = options->devices};
  return td_beside_run(&beside, options->force, script_args);
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
  int status = options->live.live || options->keep.words
                   ? run_with_session(options, argv, &problem)
                   : td_child_run(&(td_child_options){.argv = argv}, &problem);
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
       "cpu, sim:N[,latency=20us,bandwidth=4GB], cuda[:N]; virtual counts simulated time without "
       "waiting (default: cpu, or the example's devices)",
       "cpu,sim:N"},
      {"anomaly", 0, 0, G_OPTION_ARG_STRING, &options.anomaly,
       "What to look for in every gradient and sum: off, nan, nonfinite", "WHAT"},
      {"policy", 0, 0, G_OPTION_ARG_STRING, &options.policy,
       "If the recorder is too slow: block (wait) or drop (lose events)", "POLICY"},
      {"seed", 0, 0, G_OPTION_ARG_STRING, &options.seed, "Seed of the random numbers", "N"},
      {"scheduler", 0, 0, G_OPTION_ARG_STRING, &options.scheduler,
       "Which scheduler to use: engine, 2017 (a stack), 2017-fifo (a queue)", "NAME"},
      {"schedule", 0, 0, G_OPTION_ARG_FILENAME, &options.schedule,
       "Make the choices of that tape again: see --live", "TAPE"},
      {"semantics", 0, 0, G_OPTION_ARG_STRING, &options.semantics,
       "Which PyTorch to follow if versions differ: 2.15, 2.13, 1.11", "VERSION"},
      {"stats", 0, 0, G_OPTION_ARG_STRING, &options.stats,
       "What to measure of every gradient: off, finite (counts of NaN and Inf), full", "WHAT"},
      {"beside", 0, 0, G_OPTION_ARG_FILENAME, &options.beside,
       "Run the script on this Python's PyTorch too, and say where the two part", "PYTHON"},
      TD_KEEP_ENTRIES(options.keep),
      TD_LIVE_ENTRIES(options.live),
      {0}};
  int status;
  if (!td_command_parse("run", entries, true, 1, -1, &argc, &argv, &status)) return status;
  bool semantics_given = options.semantics != NULL;
  if (options.beside && !options.stats) options.stats = g_strdup("full");
  if (!find_script(argv[1], &options) || !options_are_fine(&options) ||
      !script_is_readable(&options) || !tape_is_free(&options))
    return TD_EXIT_USAGE;
  if (options.beside) return run_beside(&options, semantics_given, argv + 2);
  return run(&options, argv + 2);
}
