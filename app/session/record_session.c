/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/record_session.h"

#include "app/common/child.h"
#include "app/common/paths.h"
#include "app/common/preload.h"
#include "app/session/keep_session.h"
#include "app/session/observer/probe_build.h"
#include "app/session/torch_watch.h"
#include "engine/control/link.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The longest wait for processes that outlive the command. */
#define LINGER_MS 2000
#define PROBE "libtapedeck-probe.so"

typedef struct recording {
  const td_record_options *options;
  const td_announcer *announcer;
  td_record_result *result;
  td_hub *hub;
  td_torch_watch *watch; /* (owned) of the command, or NULL */
  td_child_options child;
  td_keep_session keep;
  bool is_over;    /* what the hub's end frees is no news */
  char *why_lower; /* (owned) why a process was recorded at a lower level, or NULL */
} recording;

/* A recorded process. Its target holds it, and so does the build of its observer. */
typedef struct process {
  recording *recording;
  td_hub_target *target; /* NULL once it has gone */
  td_session_tape *tape; /* (borrowed) */
} process;

static void
answer(process *self, const char *level, const char *observer, const char *reason) {
  td_line_text line;
  if (!self->target) return;
  td_line_begin(&line, "record");
  td_line_add(&line, "level", level);
  td_line_add(&line, "observer", observer);
  td_line_add(&line, "reason", reason);
  td_line_add(&line, "tape", self->tape->path);
  td_record_options_add_answer(self->recording->options, &line);
  td_hub_target_answer(self->target, &line);
  td_line_text_fini(&line);
}

static void
refuse(process *self, const char *reason) {
  td_line_text line;
  if (!self->target) return;
  td_announcer_say(self->recording->announcer, "not recorded: level 1 is not possible, because %s",
                   reason);
  td_line_begin(&line, "ignore");
  td_line_add(&line, "reason", reason);
  td_hub_target_answer(self->target, &line);
  td_line_text_fini(&line);
}

static void
answer_lower(process *self, const char *reason) {
  recording *recording = self->recording;
  if (!recording->why_lower)
    td_announcer_say(recording->announcer, "recording at level 2 (hooks), because %s", reason);
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
  process *self = data;
  self->target = NULL;
  if (!self->recording->is_over) {
    self->tape->runs = false;
    self->tape->gone_ns = (guint64)g_get_real_time() * 1000;
  }
  td_flight *flight = self->recording->keep.flight;
  if (flight) td_flight_end_tape(flight, self->tape->path);
  g_rc_box_release(data);
}

static void
hello_cb(td_hub_target *target, const td_line *hello, void *data) {
  recording *recording = data;
  const char *torch = td_line_find(hello, "torch");
  guint32 rank = TD_NO_RANK;
  td_line_find_u32(hello, "rank", &rank);
  recording->result->outcome.n_hellos++;
  guint32 pid = (guint32)td_hub_target_get_pid(target);
  process *made = g_rc_box_new0(process);
  *made = (process){recording, target, td_session_tapes_add(&recording->result->tapes, pid, rank)};
  made->tape->runs = true;
  td_hub_target_set_data(target, made, process_gone_cb);
  const td_keep_choice *keep = &recording->options->keep;
  if (keep->words)
    td_flight_add(recording->keep.flight, made->tape->path, &keep->limit, keep->words);
  if (!torch)
    answer(made, NULL, NULL, NULL);
  else if (strcmp(recording->options->level, "2") != 0)
    td_probe_build_async(torch, td_trial_host_of_process((pid_t)pid), recording->announcer,
                         built_cb, g_rc_box_acquire(made));
  else if (recording->options->inside)
    answer(made, "2", NULL, "the program asked for it");
  else
    answer_lower(made, "the command line says --level 2");
}

static void
said_cb(td_hub_target *target, const td_line *line, void *data) {
  recording *recording = data;
  const char *path = td_line_find(line, "path");
  td_session_tape *tape = ((process *)td_hub_target_get_data(target))->tape;
  td_keep_session_said(&recording->keep, tape->path, line);
  if (!td_line_is(line, "tape") || !path) return;
  /* A `tapedeck run` in the command has a tape of its own, and says where it is. */
  recording->result->outcome.n_elsewhere += strcmp(tape->path, path) != 0;
  td_live_show(&recording->options->live, target, path, recording->announcer);
}

static void
dump_cb(td_hub_target *asker, void *data) {
  td_keep_session_dump(&((recording *)data)->keep, asker);
}

static void
loaded_cb(void *data) {
  ((recording *)data)->result->outcome.n_loaded++;
}

static void
over_cb(td_hub_target *target, const td_line *over, void *data) {
  td_record_outcome *outcome = &((recording *)data)->result->outcome;
  guint32 n_steps = 0, n_passes = 0;
  if (!over) return;
  td_line_find_u32(over, "steps", &n_steps);
  td_line_find_u32(over, "passes", &n_passes);
  outcome->n_steps = MAX(outcome->n_steps, n_steps);
  outcome->n_passes += n_passes;
  outcome->nan_came = outcome->nan_came || td_line_flag(over, "nan");
  const char *problem = td_line_find(over, "problem");
  if (!problem) return;
  g_free(outcome->problem);
  outcome->problem = g_strdup(problem);
}

/* Ctrl+C is for the program, which may be waiting for the window. */
static void
signalled_cb(int number, void *data) {
  recording *recording = data;
  if (!td_keep_session_signalled(&recording->keep, number)) td_hub_detach(recording->hub, 0);
}

/* A process has one recorder: the innermost. */
static void
tell_of_outer(const td_announcer *announcer) {
  if (g_getenv(TD_LINK_VARIABLE))
    td_announcer_say(announcer, "this recording runs inside another one, which gets nothing of it");
}

/* PyTorch 2.0 knows the second name alone. */
static char **
forbid_compilation(char **environment) {
  environment = g_environ_setenv(environment, "TORCH_COMPILE_DISABLE", "1", TRUE);
  return g_environ_setenv(environment, "TORCHDYNAMO_DISABLE", "1", TRUE);
}

static char **
child_environment(const recording *recording, char **problem) {
  char **environment = td_preload_set(g_get_environ(), problem);
  if (!environment) return NULL;
  if (recording->options->no_compile) environment = forbid_compilation(environment);
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
  const recording *self = data;
  td_probe_build_async(library, td_trial_host_of_process(pid), self->announcer, built_early_cb,
                       NULL);
}

static void
started_cb(pid_t pid, void *data) {
  recording *recording = data;
  if (strcmp(recording->options->level, "2") != 0)
    recording->watch = td_torch_watch_new(pid, torch_seen_cb, recording);
}

static gboolean
lingered_cb(gpointer data) {
  *(bool *)data = true;
  return G_SOURCE_REMOVE;
}

static void
serve_what_is_left(void) {
  while (g_main_context_iteration(NULL, FALSE))
    continue;
}

/* A process that the command left running may say that its tape is whole. */
static void
wait_for_targets(const recording *recording) {
  bool lingered = false;
  guint source = g_timeout_add(LINGER_MS, lingered_cb, &lingered);
  while (!lingered && td_hub_get_n_targets(recording->hub) > 0)
    g_main_context_iteration(NULL, TRUE);
  serve_what_is_left(); /* what the command said last */
  if (!lingered) g_source_remove(source);
}

/* Sets result->problem if the command did not run. */
static void
run_command(recording *self, char **command) {
  char **problem = &self->result->problem;
  g_auto(GStrv) environment = child_environment(self, problem);
  if (!environment) return;
  self->child.argv = command;
  self->child.environment = environment;
  self->result->status = td_child_run(&self->child, problem);
}

/* ---- from inside: the program is there already, and holds the other ends of two pipes ---- */

/* A line, or the end: a child of the program may keep the pipe open. */
static gboolean
over_said_cb(int input, GIOCondition condition, gpointer data) {
  *(bool *)data = true;
  return G_SOURCE_REMOVE;
}

static void
say_path(const recording *self, const char *word, const char *path) {
  td_line_text line;
  td_line_begin(&line, word);
  td_line_add(&line, "path", path);
  for (size_t at = 0; at < line.n_bytes;) {
    ssize_t n = write(self->options->to_program, line.bytes + at, line.n_bytes - at);
    if (n < 0 && errno != EINTR) break; /* the program has gone */
    at += n > 0 ? (size_t)n : 0;
  }
  td_line_text_fini(&line);
}

static void
serve_program(recording *self) {
  bool is_over = false;
  signal(SIGPIPE, SIG_IGN); /* the program may have gone when the last line is written */
  g_autofree char *probe = g_build_filename(td_path_probe_libraries(), PROBE, NULL);
  say_path(self, "probe", probe);
  say_path(self, "session", td_hub_get_path(self->hub));
  g_unix_fd_add(self->options->from_program, G_IO_IN | G_IO_HUP | G_IO_ERR, over_said_cb, &is_over);
  while (!is_over)
    g_main_context_iteration(NULL, TRUE);
  self->result->status = 0;
}

/* The last line to the program. */
static void
tell_tape(const recording *self) {
  const td_session_tapes *tapes = &self->result->tapes;
  const td_session_tape *first = tapes->tapes->len ? tapes->tapes->pdata[0] : NULL;
  const char *path = tapes->joined ? tapes->joined : first ? first->path : NULL;
  if (path) say_path(self, "tape", path);
}

static void
run_recorded(recording *self, char **command) {
  td_record_result *result = self->result;
  bool inside = self->options->inside;
  td_keep_session_begin(&self->keep);
  if (inside)
    serve_program(self);
  else
    run_command(self, command);
  td_torch_watch_free(self->watch);
  td_announcer_end(self->announcer); /* nobody waits for an observer any more */
  if (!result->problem) wait_for_targets(self);
  result->tapes.keeps_ends = self->keep.flight && !self->options->steps.words;
  td_keep_session_end(&self->keep);
  if (!result->problem) result->n_tapes = td_session_tapes_conclude(&result->tapes);
  if (inside) tell_tape(self);
  self->is_over = true;
}

void
td_record_session_run(const td_record_options *options, char **command,
                      const td_announcer *announcer, td_record_result *result) {
  g_autofree char *problem = NULL;
  recording self = {.options = options, .announcer = announcer, .result = result};
  self.child = (td_child_options){.started = started_cb, .signalled = signalled_cb, .data = &self};
  self.keep = (td_keep_session){&options->keep, options->tape, &self.child, announcer, NULL};
  const td_hub_owner owner = {.hello = hello_cb,
                              .said = said_cb,
                              .over = over_cb,
                              .dump = dump_cb,
                              .loaded = loaded_cb,
                              .data = &self};
  result->status = TD_EXIT_FAILED;
  td_session_tapes_init(&result->tapes, options->tape, options->force);
  self.hub = td_hub_new(&owner, &problem);
  if (!self.hub) {
    result->problem = g_strdup_printf("%s: %s", command[0], problem);
    return;
  }
  tell_of_outer(announcer);
  run_recorded(&self, command);
  td_hub_free(self.hub);
  g_free(self.why_lower);
}

void
td_record_result_fini(td_record_result *result) {
  td_session_tapes_fini(&result->tapes);
  g_free(result->outcome.problem);
  g_free(result->problem);
}
