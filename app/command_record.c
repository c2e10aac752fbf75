/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck record`: runs a command with the probe preloaded. It answers the processes that load
 * PyTorch or Tapedeck's own engine. At the end it says where their tapes are. */
#include "app/child.h"
#include "app/command.h"
#include "app/live.h"
#include "app/preload.h"
#include "app/probe_build.h"
#include "app/session_tapes.h"
#include "app/steps_options.h"
#include "app/torch_watch.h"
#include "app/watchable.h"
#include "engine/control/link.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* The longest wait for processes that outlive the command. */
#define LINGER_MS 2000
/* So many tapes are named one by one. */
#define NAMES_MAX 4

typedef struct record_options {
  char *tape, *anomaly, *stats, *policy, *level; /* (owned) */
  gboolean force, stacks;
  bool level_is_forced;
  td_live_options live;
  td_steps_choice steps;
} record_options;

static void
options_clear(record_options *options) {
  g_free(options->tape);
  g_free(options->anomaly);
  g_free(options->stats);
  g_free(options->policy);
  g_free(options->level);
  td_live_options_clear(&options->live);
  td_steps_choice_clear(&options->steps);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(record_options, options_clear)

typedef struct recording {
  const record_options *options;
  td_session_tapes tapes;
  td_hub *hub;
  guint n_hellos;
  guint n_loaded;        /* processes that loaded PyTorch and never said hello */
  guint n_elsewhere;     /* processes that `tapedeck run` records */
  td_torch_watch *watch; /* (owned) of the command, or NULL */
  guint32 n_steps;       /* of the process that made most */
  guint32 n_passes;      /* of all processes, recorded or not */
  bool nan_came;         /* in one of them */
  char *problem;         /* (owned) why a process could not write its tape to the end, or NULL */
  char *why_lower;       /* (owned) why a process was recorded at a lower level, or NULL */
} recording;

/* A recorded process. Its target holds it, and so does the build of its observer. */
typedef struct process {
  recording *recording;
  td_hub_target *target; /* NULL once it has gone */
  td_session_tape *tape; /* (borrowed) */
} process;

static bool
word_is_fine(const char *name, char **value, const char *const *known) {
  if (!*value) *value = g_strdup(known[0]);
  return td_command_check_word("record", name, *value, known);
}

static bool
until_is_fine(const record_options *options) {
  if (!options->steps.until || g_strcmp0(options->anomaly, "off") != 0) return true;
  td_command_bad_usage("record", "--until nan looks for NaN, and --anomaly off does not");
  return false;
}

static bool
options_are_fine(record_options *options) {
  options->level_is_forced = options->level != NULL;
  if (!options->anomaly) options->anomaly = g_strdup(td_live_anomaly_mode(&options->live));
  if (!options->anomaly) options->anomaly = g_strdup(options->steps.until);
  return td_steps_choice_check("record", &options->steps) && until_is_fine(options) &&
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
tape_is_free(record_options *options, char **command) {
  g_autofree char *given = options->tape ? options->tape : default_tape(command);
  options->tape = g_canonicalize_filename(given, NULL);
  g_autofree char *folder = g_path_get_dirname(options->tape);
  if (g_file_test(options->tape, G_FILE_TEST_IS_DIR))
    td_command_fail(given, "is a directory");
  else if (g_access(folder, W_OK | X_OK) != 0)
    td_command_fail(given, "%s", g_strerror(errno));
  else
    return options->force || nothing_taken(options->tape);
  return false;
}

static void
answer(process *self, const char *level, const char *observer, const char *reason) {
  const record_options *options = self->recording->options;
  td_line_text line;
  if (!self->target) return;
  td_line_begin(&line, "record");
  td_line_add(&line, "level", level);
  td_line_add(&line, "observer", observer);
  td_line_add(&line, "reason", reason);
  td_line_add(&line, "tape", self->tape->path);
  td_line_add(&line, "policy", options->policy);
  td_line_add(&line, "anomaly", options->anomaly);
  td_line_add(&line, "stats", options->stats);
  td_line_add(&line, "stacks", options->stacks ? "1" : "0");
  td_live_add_answer(&options->live, &line);
  td_steps_choice_add_answer(&options->steps, &line);
  td_hub_target_answer(self->target, &line);
  td_line_text_fini(&line);
}

static void
refuse(process *self, const char *reason) {
  td_line_text line;
  if (!self->target) return;
  fprintf(stderr, "tapedeck: not recorded: level 1 is not possible, because %s\n", reason);
  td_line_begin(&line, "ignore");
  td_line_add(&line, "reason", reason);
  td_hub_target_answer(self->target, &line);
  td_line_text_fini(&line);
}

static void
answer_lower(process *self, const char *reason) {
  recording *recording = self->recording;
  if (!recording->why_lower)
    fprintf(stderr, "tapedeck: recording at level 2 (hooks), because %s\n", reason);
  g_free(recording->why_lower);
  recording->why_lower = g_strdup(reason);
  answer(self, "2", NULL, reason);
}

static void
built_cb(GObject *source, GAsyncResult *result, gpointer data) {
  process *self = data;
  g_autoptr(GError) error = NULL;
  g_autofree char *observer = td_probe_build_finish(result, &error);
  if (observer)
    answer(self, "1", observer, NULL);
  else if (self->recording->options->level_is_forced)
    refuse(self, error->message);
  else
    answer_lower(self, error->message);
  g_rc_box_release(self);
}

static void
process_gone_cb(gpointer data) {
  ((process *)data)->target = NULL;
  g_rc_box_release(data);
}

static void
hello_cb(td_hub_target *target, const td_line *hello, void *data) {
  recording *recording = data;
  const char *torch = td_line_find(hello, "torch");
  guint32 rank = TD_NO_RANK;
  td_line_find_u32(hello, "rank", &rank);
  recording->n_hellos++;
  guint32 pid = (guint32)td_hub_target_get_pid(target);
  process *made = g_rc_box_new0(process);
  *made = (process){recording, target, td_session_tapes_add(&recording->tapes, pid, rank)};
  td_hub_target_set_data(target, made, process_gone_cb);
  if (!torch)
    answer(made, NULL, NULL, NULL);
  else if (strcmp(recording->options->level, "2") == 0)
    answer_lower(made, "the command line says --level 2");
  else
    td_probe_build_async(torch, td_trial_host_of_process((pid_t)pid), built_cb,
                         g_rc_box_acquire(made));
}

static void
said_cb(td_hub_target *target, const td_line *line, void *data) {
  recording *recording = data;
  const char *path = td_line_find(line, "path");
  if (!td_line_is(line, "tape") || !path) return;
  /* A `tapedeck run` in the command has a tape of its own, and says where it is. */
  td_session_tape *tape = ((process *)td_hub_target_get_data(target))->tape;
  recording->n_elsewhere += strcmp(tape->path, path) != 0;
  if (recording->options->live.live) td_live_show(target, path);
}

static void
loaded_cb(void *data) {
  ((recording *)data)->n_loaded++;
}

static void
over_cb(td_hub_target *target, const td_line *over, void *data) {
  recording *recording = data;
  guint32 n_steps = 0, n_passes = 0;
  if (!over) return;
  td_line_find_u32(over, "steps", &n_steps);
  td_line_find_u32(over, "passes", &n_passes);
  recording->n_steps = MAX(recording->n_steps, n_steps);
  recording->n_passes += n_passes;
  recording->nan_came = recording->nan_came || td_line_flag(over, "nan");
  const char *problem = td_line_find(over, "problem");
  if (!problem) return;
  g_free(recording->problem);
  recording->problem = g_strdup(problem);
}

/* Ctrl+C is for the program, which may be waiting for the window. */
static void
signalled_cb(int number, void *data) {
  td_hub_detach(((recording *)data)->hub, 0);
}

/* A process has one recorder: the innermost. */
static void
tell_of_outer(void) {
  if (g_getenv(TD_LINK_VARIABLE))
    fprintf(stderr, "tapedeck: this recording runs inside another one, which gets nothing of it\n");
}

static char **
child_environment(const recording *recording, char **problem) {
  char **environment = td_preload_set(g_get_environ(), problem);
  if (!environment) return NULL;
  return g_environ_setenv(environment, TD_LINK_VARIABLE, td_hub_get_path(recording->hub), TRUE);
}

static void
built_early_cb(GObject *source, GAsyncResult *result, gpointer data) {
  g_autofree char *observer = td_probe_build_finish(result, NULL);
}

/* The observer is made while the command still loads PyTorch and its data. What goes wrong is said
 * when a process asks for the observer. */
static void
torch_seen_cb(pid_t pid, const char *library, void *data) {
  td_probe_build_async(library, td_trial_host_of_process(pid), built_early_cb, NULL);
}

static void
started_cb(pid_t pid, void *data) {
  recording *recording = data;
  if (strcmp(recording->options->level, "2") != 0)
    recording->watch = td_torch_watch_new(pid, torch_seen_cb, NULL);
}

static gboolean
lingered_cb(gpointer data) {
  *(bool *)data = true;
  return G_SOURCE_REMOVE;
}

/* A process that the command left running may say that its tape is whole. */
static void
wait_for_targets(const recording *recording) {
  bool lingered = false;
  guint source = g_timeout_add(LINGER_MS, lingered_cb, &lingered);
  while (!lingered && td_hub_get_n_targets(recording->hub) > 0)
    g_main_context_iteration(NULL, TRUE);
  while (g_main_context_iteration(NULL, FALSE)) /* what the command said last */
    continue;
  if (!lingered) g_source_remove(source);
}

/* "a.tape, b.tape", or the first and the last of many. */
static char *
list_names(const GPtrArray *tapes) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < tapes->len; i++) {
    bool skipped = tapes->len > NAMES_MAX && i > 0 && i + 1 < tapes->len;
    if (skipped) continue;
    g_autofree char *name = td_command_shell_name(((const td_session_tape *)tapes->pdata[i])->path);
    const char *between = tapes->len > NAMES_MAX ? " ... " : ", ";
    g_string_append_printf(names, "%s%s", i ? between : "", name);
  }
  return g_string_free(g_steal_pointer(&names), FALSE);
}

static void
tell_tapes(const recording *recording) {
  const td_session_tapes *tapes = &recording->tapes;
  g_autofree char *names = list_names(tapes->tapes);
  bool whole = true;
  for (guint i = 0; i < tapes->tapes->len; i++)
    whole = whole && ((const td_session_tape *)tapes->tapes->pdata[i])->whole;
  g_autofree char *unwritten =
      recording->problem ? g_strdup_printf(", cut short: %s", recording->problem)
      : tapes->unread    ? g_strdup_printf(", which cannot be read now: %s", tapes->unread)
                         : NULL;
  const char *cut = unwritten ? unwritten
                    : !whole  ? ", cut short because a process ended abruptly"
                    : recording->options->steps.until && !recording->nan_came
                        ? ", in which no NaN was born"
                        : "";
  if (tapes->joined) {
    g_autofree char *joined = td_command_shell_name(tapes->joined);
    fprintf(stderr,
            "tapedeck: recorded %u processes (%s) into %s%s; see it with: tapedeck open %s\n",
            tapes->tapes->len, names, joined, cut, joined);
  } else if (tapes->problem) {
    fprintf(stderr, "tapedeck: recorded %s%s; they are not joined: %s\n", names, cut,
            tapes->problem);
  } else {
    fprintf(stderr, "tapedeck: recorded %s%s; see it with: tapedeck open %s\n", names, cut, names);
  }
}

static void
tell_why_nothing(const recording *recording, const char *program) {
  bool has_torch = recording->n_hellos > 0 || recording->n_loaded > 0;
  g_autofree char *problem = has_torch ? NULL : td_watchable_problem(program);
  if (recording->n_passes > 0 && recording->options->steps.words) {
    fprintf(stderr,
            "tapedeck: nothing was recorded: the program made %u steps, none of them in %s\n",
            recording->n_steps, recording->options->steps.words);
    return;
  }
  const char *reason = problem;
  if (recording->problem)
    reason = recording->problem;
  else if (recording->tapes.n_lost > 0)
    reason = "the program was killed before its first backward pass was written";
  else if (has_torch)
    reason = "the command loaded PyTorch, but no backward pass ran";
  else if (!problem)
    reason = "the command did not load PyTorch, or hid it (a static program, no LD_PRELOAD or "
             "TAPEDECK_SESSION in the environment, no descriptor left)";
  fprintf(stderr, "tapedeck: nothing was recorded: %s\n", reason);
}

static void
conclude(recording *recording, const char *program) {
  if (td_session_tapes_conclude(&recording->tapes) > 0)
    tell_tapes(recording);
  else if (recording->n_elsewhere == 0)
    tell_why_nothing(recording, program);
}

/* Runs the command and returns its status, or says in *problem why it did not run. */
static int
run_recorded(recording *self, char **command, char **problem) {
  g_auto(GStrv) environment = child_environment(self, problem);
  if (!environment) return TD_EXIT_FAILED;
  const td_child_options child = {.argv = command,
                                  .environment = environment,
                                  .started = started_cb,
                                  .signalled = signalled_cb,
                                  .data = self};
  int status = td_child_run(&child, problem);
  td_torch_watch_free(self->watch);
  td_progress_end(); /* of what nobody waits for any more */
  if (*problem) return status;
  wait_for_targets(self);
  conclude(self, command[0]);
  return status;
}

static int
record(const record_options *options, char **command) {
  g_autofree char *problem = NULL;
  recording self = {.options = options};
  const td_hub_owner owner = {
      .hello = hello_cb, .said = said_cb, .over = over_cb, .loaded = loaded_cb, .data = &self};
  self.hub = td_hub_new(&owner, &problem);
  if (!self.hub) {
    td_command_fail(command[0], "%s", problem);
    return TD_EXIT_FAILED;
  }
  tell_of_outer();
  td_session_tapes_init(&self.tapes, options->tape, options->force);
  int status = run_recorded(&self, command, &problem);
  if (problem) fprintf(stderr, "tapedeck: %s\n", problem);
  td_hub_free(self.hub);
  td_session_tapes_fini(&self.tapes);
  g_free(self.why_lower);
  g_free(self.problem);
  return status;
}

int
td_command_record(int argc, char **argv) {
  g_auto(record_options) options = {0};
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
       "Remember which line and module of the forward pass made each node", NULL},
      {"level", 0, 0, G_OPTION_ARG_STRING, &options.level,
       "1, inside the engine (the default, if possible); 2, PyTorch's public hooks", "LEVEL"},
      TD_STEPS_ENTRIES(options.steps),
      TD_LIVE_ENTRIES(options.live),
      {0}};
  int status;
  if (!td_command_parse("record", entries, true, 1, -1, &argc, &argv, &status)) return status;
  char **command = argv + 1;
  if (strcmp(command[0], "--") == 0) command++;
  if (!command[0]) return td_command_bad_usage("record", "COMMAND is missing");
  if (!options_are_fine(&options) || td_command_refuse_tape(command[0]) ||
      !tape_is_free(&options, command))
    return TD_EXIT_USAGE;
  return record(&options, command);
}
