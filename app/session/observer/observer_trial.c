/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/observer/observer_trial.h"

#include "app/common/paths.h"
#include "app/common/preload.h"
#include "engine/profile/check/check.h"
#include "engine/trace/tape.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SCRIPT "engine/probe/trial.py"
#define EXPECTED "engine/probe/trial.txt"
#define TAPE "trial.tape"

/* Importing PyTorch takes most of it. */
#define LIMIT_S 300
/* The script's exit status if PyTorch cannot be imported. */
#define NO_TORCH 77

/* the host */

td_trial_host *
td_trial_host_new(const char *python) {
  td_trial_host *self = g_new0(td_trial_host, 1);
  self->python = g_strdup(python);
  self->environment = g_get_environ();
  return self;
}

/* A file of texts that each end in NUL, as in /proc. */
static char **
read_texts(pid_t pid, const char *name) {
  g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
  g_autofree char *bytes = NULL;
  gsize n_bytes = 0;
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
  g_file_get_contents(path, &bytes, &n_bytes, NULL);
  for (const char *at = bytes; at && at < bytes + n_bytes; at += strlen(at) + 1)
    g_strv_builder_add(texts, at);
  return g_strv_builder_end(texts);
}

static char *
follow(pid_t pid, const char *name) {
  g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
  return g_file_read_link(path, NULL);
}

/* Where a process got its program from, by the name that it was called by. A virtual environment
 * shows in that name alone: its Python is a link. */
static char *
called_path(pid_t pid, const char *name, char **environment) {
  g_autofree char *here = follow(pid, "cwd");
  if (strchr(name, '/')) return g_canonicalize_filename(name, here ? here : "/");
  const char *path = g_environ_getenv(environment, "PATH");
  g_auto(GStrv) folders = g_strsplit(path ? path : "", ":", -1);
  for (char **folder = folders; *folder; folder++) {
    g_autofree char *candidate = g_build_filename(*folder, name, NULL);
    if (**folder == '/' && g_file_test(candidate, G_FILE_TEST_IS_EXECUTABLE))
      return g_steal_pointer(&candidate);
  }
  return NULL;
}

static gboolean
is_same_file(const char *a, const char *b) {
  GStatBuf of_a, of_b;
  return g_stat(a, &of_a) == 0 && g_stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

static char *
find_python(pid_t pid, char **environment) {
  g_autofree char *program = follow(pid, "exe");
  g_autofree char *base = program ? g_path_get_basename(program) : g_strdup("");
  g_auto(GStrv) arguments = read_texts(pid, "cmdline");
  if (!g_str_has_prefix(base, "python") || !arguments[0]) return NULL;
  g_autofree char *called = called_path(pid, arguments[0], environment);
  return called && is_same_file(called, program) ? g_steal_pointer(&called)
                                                 : g_steal_pointer(&program);
}

td_trial_host *
td_trial_host_of_process(pid_t pid) {
  td_trial_host *self = g_new0(td_trial_host, 1);
  self->environment = read_texts(pid, "environ");
  self->python = find_python(pid, self->environment);
  return self;
}

void
td_trial_host_free(td_trial_host *self) {
  g_free(self->python);
  g_strfreev(self->environment);
  g_free(self);
}

/* the child */

/* The script's PyTorch must be the one that the observer is for. */
static char **
child_environment(const td_trial_host *host, const td_torch_files *torch, const char *observer,
                  const char *tape, char **problem) {
  char **environment = td_preload_set(g_strdupv(host->environment), problem);
  if (!environment) return NULL;
  const char *path = g_environ_getenv(environment, "PYTHONPATH");
  g_autofree char *ours = g_strdup(torch->package);
  g_autofree char *all = path && ours ? g_strconcat(ours, ":", path, NULL) : g_strdup(ours);
  const char *const variables[][2] = {
      {"TAPEDECK_SESSION", "trial"},    {"TAPEDECK_OBSERVER", observer},
      {"TAPEDECK_TAPE", tape},          {"TAPEDECK_ANOMALY", "nonfinite"},
      {"TAPEDECK_STATS", "finite"},     {"OMP_NUM_THREADS", "1"},
      {"CUDA_VISIBLE_DEVICES", ""},     {"PYTHONDONTWRITEBYTECODE", "1"},
      {all ? "PYTHONPATH" : NULL, all},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(variables); i++)
    if (variables[i][0])
      environment = g_environ_setenv(environment, variables[i][0], variables[i][1], TRUE);
  return environment;
}

/* How the child ended badly, in words; NULL: it ended well. *verdict becomes what follows. */
static char *
judge_end(int status, const char *said, td_trial_verdict *verdict) {
  static const int from_outside[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL};
  *verdict = TD_TRIAL_FAILED;
  if (WIFSIGNALED(status)) {
    for (gsize i = 0; i < G_N_ELEMENTS(from_outside); i++)
      if (WTERMSIG(status) == from_outside[i]) *verdict = TD_TRIAL_OPEN;
    if (WTERMSIG(status) == SIGALRM) return g_strdup_printf("it hung for %d s", LIMIT_S);
    return g_strdup_printf("it died of signal %d (%s)", WTERMSIG(status),
                           g_strsignal(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) == 0) return NULL;
  if (WEXITSTATUS(status) == NO_TORCH) *verdict = TD_TRIAL_OPEN;
  g_autofree char *text = g_strchomp(g_strdup(said));
  const char *last = strrchr(text, '\n');
  if (!*text) return g_strdup_printf("it ended with status %d", WEXITSTATUS(status));
  return g_strdup(last ? last + 1 : text);
}

/* the tape */

typedef struct reading {
  td_tape *tape;
  GPtrArray *names; /* (borrowed elements) of nodes, by id */
  char **expected;  /* (owned) lines */
  guint n_expected; /* lines that have been found */
  GHashTable *kinds;
} reading;

static void
note_node(reading *self, const td_event_node_new *node) {
  if (node->node >= 10000) return;
  if (self->names->len <= node->node) g_ptr_array_set_size(self->names, (gint)node->node + 1);
  self->names->pdata[node->node] = (gpointer)td_tape_string(self->tape, node->name);
}

static const char *
name_of(const reading *self, uint64_t id) {
  const char *name = id < self->names->len ? self->names->pdata[id] : NULL;
  return name ? name : "nothing";
}

/* "node=MulBackward0", of one field. */
static void
add_field(const reading *self, const td_event *event, const td_field *field, GString *out) {
  uint64_t value = td_event_field_get(event, field);
  const char *word = td_enum_word(field->type, value);
  g_string_append_printf(out, " %s=", field->name);
  if (word)
    g_string_append(out, word);
  else if (td_event_id_space(event, field) == TD_ID_NODE)
    g_string_append(out, name_of(self, value));
  else
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, value);
}

/* The event in the words of a line: the fields that the line has. */
static char *
say_like(const reading *self, const td_event *event, const char *line) {
  const td_event_type *type = td_event_type_get(event->kind);
  g_autoptr(GString) out = g_string_new(type->name);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    g_autofree char *key = g_strdup_printf(" %s=", type->fields[i].name);
    if (strstr(line, key)) add_field(self, event, &type->fields[i], out);
  }
  return g_string_free(g_steal_pointer(&out), FALSE);
}

/* NULL, or in words how an event differs from the line that is next. */
static char *
compare_event(reading *self, const td_event *event) {
  const char *line = self->expected[self->n_expected];
  if (event->kind == TD_EVENT_node_new) note_node(self, (const td_event_node_new *)event);
  if (!g_hash_table_contains(self->kinds, GUINT_TO_POINTER(event->kind))) return NULL;
  g_autofree char *found = say_like(self, event, line ? line : "");
  if (!line) return g_strdup_printf("the tape has %s after all that was expected", found);
  self->n_expected++;
  return strcmp(found, line) == 0 ? NULL
                                  : g_strdup_printf("the tape has %s instead of %s", found, line);
}

static char *
compare_events(reading *self) {
  uint64_t n = td_tape_info_get(self->tape)->n_events;
  for (uint64_t seq = 0; seq < n; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    char *complaint = event ? compare_event(self, &event->event) : NULL;
    if (complaint) return complaint;
  }
  const char *missing = self->expected[self->n_expected];
  return missing ? g_strdup_printf("the tape has no %s", missing) : NULL;
}

static void
keep_violation_cb(const td_violation *violation, void *data) {
  char **complaint = data;
  if (!*complaint) *complaint = g_strdup_printf("%s: %s", violation->rule, violation->text);
}

static char *
check_rules(td_tape *tape) {
  td_error error = {0};
  uint64_t n = 0;
  char *complaint = NULL;
  if (td_check_run(tape, keep_violation_cb, &complaint, &n, &error) != TD_OK && !complaint)
    complaint = g_strdup(td_error_text(&error));
  td_error_clear(&error);
  return complaint;
}

/* Reads the lines, and which kinds of events they are about. Lines with # are for people. */
static gboolean
read_expected(reading *self) {
  g_autofree char *path = g_build_filename(td_path_probe_sources(), EXPECTED, NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return FALSE;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GStrvBuilder) kept = g_strv_builder_new();
  for (char **line = lines; *line; line++) {
    if (**line == '#' || !**line) continue;
    g_autofree char *name = g_strndup(*line, strcspn(*line, " "));
    g_hash_table_add(self->kinds, GUINT_TO_POINTER(td_event_kind_find(name)));
    g_strv_builder_add(kept, *line);
  }
  self->expected = g_strv_builder_end(kept);
  return TRUE;
}

static char *
judge_tape(td_tape *tape) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  g_autoptr(GHashTable) kinds = g_hash_table_new(NULL, NULL);
  reading self = {.tape = tape, .names = names, .kinds = kinds};
  char *complaint =
      read_expected(&self) ? compare_events(&self) : g_strdup_printf("%s is missing", EXPECTED);
  g_strfreev(self.expected);
  return complaint ? complaint : check_rules(tape);
}

static char *
judge_file(const char *path) {
  td_error error = {0};
  td_tape *tape;
  if (td_tape_open(path, &tape, &error) != TD_OK) {
    td_error_clear(&error);
    return g_strdup("it wrote no tape");
  }
  char *complaint = judge_tape(tape);
  td_tape_close(tape);
  return complaint;
}

/* the trial */

td_trial_verdict
td_observer_try(const td_trial_host *host, const td_torch_files *torch, const char *observer,
                const char *folder, const td_progress *progress, GString *log, char **complaint) {
  g_autofree char *script = g_build_filename(td_path_probe_sources(), SCRIPT, NULL);
  g_autofree char *tape = g_build_filename(folder, TAPE, NULL);
  g_auto(GStrv) environment = child_environment(host, torch, observer, tape, complaint);
  if (!environment) return TD_TRIAL_OPEN;
  g_autofree char *text = NULL;
  g_autoptr(GString) said = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  td_trial_verdict verdict = TD_TRIAL_OPEN;
  int status;
  /* By -c: the folder of a script would be one of Python's own. */
  if (g_file_get_contents(script, &text, NULL, &error)) {
    const td_subprocess subprocess = {.argv = (char *[]){host->python, (char *)"-c", text, NULL},
                                      .environment = environment,
                                      .folder = folder,
                                      .limit_s = LIMIT_S};
    td_subprocess_run(&subprocess, progress, said, &status, &error);
  }
  if (error) {
    *complaint = g_strdup(error->message);
    return verdict;
  }
  g_string_append_printf(log, "%s %s\n%s\n", host->python, script, said->str);
  *complaint = judge_end(status, said->str, &verdict);
  if (!*complaint) *complaint = judge_file(tape);
  g_unlink(tape);
  if (*complaint) g_string_append_printf(log, "%s\n", *complaint);
  return *complaint ? verdict : TD_TRIAL_PASSED;
}
