/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/program_runner.h"

#include "app/common/last_words.h"
#include "app/common/paths.h"

#include <glib/gi18n.h>
#include <signal.h>

#define LINES_SHOWN 6
#define SAID_MAX (64 << 10)
#define PATIENCE_S 5

/* What comes through the pipe, its end. A program that the program started may keep the pipe open
 * and write into it, long after the job. So the ear listens for as long. */
typedef struct Ear {
  GPollableInputStream *stream; /* (owned) */
  GString *said;                /* (owned) */
} Ear;

typedef struct Job {
  char *tape, *problem; /* (owned) */
  GSubprocess *child;   /* (owned) or NULL: nothing was started */
  Ear *ear;             /* (owned) or NULL, the same */
  gulong cancelled;     /* id of a handler, or 0 */
  guint patience;       /* source, or 0: nobody cancelled */
} Job;

static void
ear_clear(gpointer data) {
  Ear *ear = data;
  g_object_unref(ear->stream);
  g_string_free(ear->said, TRUE);
}

static void
ear_release(gpointer data) {
  g_rc_box_release_full(data, ear_clear);
}

/* FALSE: there is no more now. */
static gboolean
hear(Ear *ear, GError **error) {
  char bytes[4096];
  gssize n =
      g_pollable_input_stream_read_nonblocking(ear->stream, bytes, sizeof bytes, NULL, error);
  if (n <= 0) return FALSE;
  g_string_append_len(ear->said, bytes, n);
  if (ear->said->len > SAID_MAX) g_string_erase(ear->said, 0, (gssize)(ear->said->len - SAID_MAX));
  return TRUE;
}

static gboolean
hear_more(GObject *stream, gpointer data) {
  g_autoptr(GError) error = NULL;
  return hear(data, &error) || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
}

static Ear *
listen_to(GInputStream *stream) {
  Ear *ear = g_rc_box_new0(Ear);
  g_autoptr(GSource) source =
      g_pollable_input_stream_create_source(G_POLLABLE_INPUT_STREAM(stream), NULL);
  ear->stream = g_object_ref(G_POLLABLE_INPUT_STREAM(stream));
  ear->said = g_string_new(NULL);
  g_source_set_callback(source, G_SOURCE_FUNC(hear_more), g_rc_box_acquire(ear), ear_release);
  g_source_attach(source, NULL);
  return ear;
}

static void
job_free(gpointer data) {
  Job *job = data;
  g_clear_object(&job->child);
  g_clear_pointer(&job->ear, ear_release);
  g_free(job->tape);
  g_free(job->problem);
  g_free(job);
}

static char *
last_lines(const char *text) {
  g_autofree char *trimmed = g_strstrip(g_strdup(text ? text : ""));
  const char *begin = trimmed + strlen(trimmed);
  for (int n = 0; begin > trimmed && n < LINES_SHOWN; begin--)
    n += begin[-1] == '\n';
  return g_strdup(*begin == '\n' ? begin + 1 : begin);
}

/* train.py becomes train-20261126-091500.tape, which no file has. */
static char *
tape_of(char **words) {
  const char *named = words[0];
  for (char **word = words; *word; word++)
    if (g_str_has_suffix(*word, ".py")) named = *word;
  g_autofree char *base = g_path_get_basename(named);
  if (g_str_has_suffix(base, ".py")) base[strlen(base) - strlen(".py")] = '\0';
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  g_autofree char *time = g_date_time_format(now, "%Y%m%d-%H%M%S");
  g_autofree char *file = g_strdup_printf("%s-%s.tape", base, time);
  return g_build_filename(g_get_user_data_dir(), "tapedeck", "recordings", file, NULL);
}

static void
return_outcome(GTask *task, gboolean succeeded, const char *said) {
  Job *job = g_task_get_task_data(task);
  g_autofree char *lines = last_lines(said);
  if (!g_file_test(job->tape, G_FILE_TEST_EXISTS)) {
    g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s",
                            *lines ? lines : _("The program ran no backward pass."));
    return;
  }
  if (!succeeded) job->problem = td_last_words(said);
  if (!succeeded && !job->problem) job->problem = g_strdup(_("it does not say why"));
  g_task_return_boolean(task, TRUE);
}

/* The program has ended, and all that it said is in the pipe. Another program may fill it on. */
static void
ended(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(GTask) task = data;
  GSubprocess *child = G_SUBPROCESS(source);
  Job *job = g_task_get_task_data(task);
  g_cancellable_disconnect(g_task_get_cancellable(task), job->cancelled);
  g_clear_handle_id(&job->patience, g_source_remove);
  g_subprocess_wait_finish(child, result, NULL);
  for (int n = 0; n < 2 * SAID_MAX / 4096 && hear(job->ear, NULL); n++)
    continue;
  g_autofree char *said = g_utf8_make_valid(job->ear->said->str, (gssize)job->ear->said->len);
  return_outcome(task, g_subprocess_get_successful(child), said);
}

/* `tapedeck record` blocks signals while it hands them on to its program. Later it writes the tape,
 * and a signal would cost that. */
static gboolean
has_program(GSubprocess *child) {
  const char *process = g_subprocess_get_identifier(child);
  g_autofree char *path = g_strdup_printf("/proc/%s/status", process ? process : "0");
  g_autofree char *status = NULL;
  if (!g_file_get_contents(path, &status, NULL, NULL)) return FALSE;
  const char *blocked = strstr(status, "\nSigBlk:");
  return blocked &&
         g_ascii_strtoull(blocked + strlen("\nSigBlk:\t"), NULL, 16) >> (SIGTERM - 1) & 1;
}

static gboolean
lose_patience(gpointer data) {
  GSubprocess *child = data;
  if (has_program(child)) g_subprocess_send_signal(child, SIGTERM);
  return G_SOURCE_CONTINUE;
}

static void
interrupt(GCancellable *cancellable, gpointer data) {
  Job *job = data;
  g_subprocess_send_signal(job->child, SIGINT);
  job->patience = g_timeout_add_seconds(PATIENCE_S, lose_patience, job->child);
}

static GPtrArray *
arguments_of(const TdProgram *program, const char *tape, char **words) {
  GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(arguments, g_strdup(td_path_program()));
  g_ptr_array_add(arguments, g_strdup("record"));
  g_ptr_array_add(arguments, g_strdup("--stacks")); /* lines */
  if (program->finds_nan) g_ptr_array_add(arguments, g_strdup("--anomaly=nonfinite"));
  if (program->is_live) g_ptr_array_add(arguments, g_strdup("--live"));
  g_ptr_array_add(arguments, g_strconcat("--output=", tape, NULL));
  g_ptr_array_add(arguments, g_strdup("--"));
  for (char **word = words; *word; word++)
    g_ptr_array_add(arguments, g_strdup(*word));
  g_ptr_array_add(arguments, NULL);
  return arguments;
}

static GSubprocess *
start(const TdProgram *program, Job *job, GError **error) {
  g_auto(GStrv) words = NULL;
  if (!g_shell_parse_argv(program->command, NULL, &words, error)) return NULL;
  job->tape = tape_of(words);
  g_autofree char *folder = g_path_get_dirname(job->tape);
  g_mkdir_with_parents(folder, 0700);
  g_autoptr(GPtrArray) arguments = arguments_of(program, job->tape, words);
  g_autoptr(GSubprocessLauncher) launcher =
      g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_cwd(launcher, program->folder);
  return g_subprocess_launcher_spawnv(launcher, (const char *const *)arguments->pdata, error);
}

void
td_program_record_async(const TdProgram *program, GCancellable *cancellable,
                        GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, done, data);
  Job *job = g_new0(Job, 1);
  GError *error = NULL;
  g_task_set_task_data(task, job, job_free);
  g_task_set_check_cancellable(task, FALSE);
  job->child = start(program, job, &error);
  if (!job->child) {
    g_task_return_error(task, error);
    return;
  }
  job->ear = listen_to(g_subprocess_get_stderr_pipe(job->child));
  job->cancelled = g_cancellable_connect(cancellable, G_CALLBACK(interrupt), job, NULL);
  g_subprocess_wait_async(job->child, NULL, ended, g_steal_pointer(&task));
}

char *
td_program_record_finish(GAsyncResult *result, char **problem, GError **error) {
  Job *job = g_task_get_task_data(G_TASK(result));
  if (!g_task_propagate_boolean(G_TASK(result), error)) return NULL;
  *problem = g_steal_pointer(&job->problem);
  return g_steal_pointer(&job->tape);
}
