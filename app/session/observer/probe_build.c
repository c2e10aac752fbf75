/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/observer/probe_build.h"

#include "app/common/failure.h"
#include "app/common/paths.h"
#include "app/session/observer/observer_compiler.h"
#include "engine/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The first word of the file `verdict`. After PASSED and UNTRIED comes the checksum of the
 * observer, after FAILED the reason. */
#define PASSED "passed "
#define UNTRIED "untried "
#define FAILED "failed "

typedef struct build {
  td_torch_files torch;
  td_observer_compiler compiler;
  const td_trial_host *host;
  const td_announcer *announcer;
  gboolean again;
  char *folder, *log, *path, *verdict; /* (owned) of the observer, in the cache */
} build;

static void
build_clear(build *self) {
  td_torch_files_clear(&self->torch);
  td_observer_compiler_clear(&self->compiler);
  g_free(self->folder);
  g_free(self->log);
  g_free(self->path);
  g_free(self->verdict);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(build, build_clear)

/* the folder */

/* Programs load what lies here: see engine/base/trust.h. */
static gboolean
is_trusted(const char *folder, GError **error) {
  td_error problem = {0};
  g_autofree char *real = NULL;
  if (td_trust_check(folder, &real, &problem) == TD_OK) return TRUE;
  td_fail(error, "%s", td_error_text(&problem));
  td_error_clear(&problem);
  return FALSE;
}

/* Another PyTorch, compiler or probe gives another folder. */
static gboolean
choose_folder(build *self, GError **error) {
  GStatBuf file;
  const td_torch_files *torch = &self->torch;
  if (g_stat(torch->library, &file)) return td_fail(error, "%s cannot be read", torch->library);
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autofree char *facts =
      g_strdup_printf("%s\n%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n%s\n%s\n%s\n%s\n",
                      torch->library, (gint64)file.st_size, (gint64)file.st_mtime, torch->headers,
                      torch->version, self->compiler.path, self->compiler.version);
  g_checksum_update(sum, (const guchar *)facts, -1);
  if (!td_observer_add_sources(sum, error)) return FALSE;
  g_autofree char *key =
      g_strdup_printf("torch-%s-%.16s", torch->version, g_checksum_get_string(sum));
  self->folder = g_build_filename(td_path_cache(), "probe", key, NULL);
  self->path = g_build_filename(self->folder, "observer.so", NULL);
  self->log = g_build_filename(self->folder, "compiler.log", NULL);
  self->verdict = g_build_filename(self->folder, "verdict", NULL);
  if (g_mkdir_with_parents(self->folder, 0700) == 0) return is_trusted(self->folder, error);
  return td_fail(error, "%s: %s", self->folder, g_strerror(errno));
}

/* Removes the files of a compile that was killed. The lock is held. */
static void
remove_leftovers(const build *self) {
  g_autoptr(GDir) folder = g_dir_open(self->folder, 0, NULL);
  for (const char *name; folder && (name = g_dir_read_name(folder));) {
    g_autofree char *path = g_build_filename(self->folder, name, NULL);
    if (g_str_has_prefix(name, "observer.so.")) g_unlink(path);
  }
}

/* the verdict */

/* NULL: there is no such file. */
static char *
checksum_of(const char *path) {
  g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
  if (!file) return NULL;
  g_autoptr(GBytes) bytes = g_mapped_file_get_bytes(file);
  return g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);
}

static void
keep_verdict(const build *self, const char *word, const char *detail) {
  g_autofree char *text = g_strconcat(word, detail, "\n", NULL);
  g_file_set_contents(self->verdict, text, -1, NULL);
}

/* Whether the observer is the file that the verdict is about: not half of it. */
static gboolean
is_whole(const build *self, const char *checksum) {
  g_autofree char *found = checksum_of(self->path);
  return found && strcmp(found, checksum) == 0;
}

typedef enum state { STATE_NONE, STATE_READY, STATE_UNTRIED, STATE_FAILED } state;

/* What the cache has. If that failed, *error is the reason. */
static state
look_up(const build *self, GError **error) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(self->verdict, &text, NULL, NULL)) return STATE_NONE;
  g_strchomp(text);
  if (g_str_has_prefix(text, PASSED))
    return is_whole(self, text + strlen(PASSED)) ? STATE_READY : STATE_NONE;
  if (g_str_has_prefix(text, UNTRIED) && is_whole(self, text + strlen(UNTRIED)))
    return self->host->python ? STATE_UNTRIED : STATE_READY;
  if (!g_str_has_prefix(text, FAILED) || self->again) return STATE_NONE;
  td_fail(error, "%s", text + strlen(FAILED));
  return STATE_FAILED;
}

/* making it */

/* Fails for good: the verdict is kept, so that the next recording need not wait. */
static gboolean
reject(const build *self, gboolean is_final, GError **error, const char *what,
       const char *complaint) {
  g_autofree char *reason = g_strdup_printf("%s PyTorch %s: %s (see %s)", what, self->torch.version,
                                            complaint, self->log);
  if (is_final) keep_verdict(self, FAILED, reason);
  return td_fail(error, "%s", reason);
}

static gboolean
compile(const build *self, const char *output, const td_progress *progress, GString *log,
        GError **error) {
  gboolean is_final = FALSE;
  g_autoptr(GError) complaint = NULL;
  if (td_observer_compile(&self->compiler, &self->torch, output, progress, log, &is_final,
                          &complaint))
    return g_chmod(output, 0700) == 0 || td_fail(error, "%s: %s", output, g_strerror(errno));
  return reject(self, is_final, error, "the observer does not compile against", complaint->message);
}

static gboolean
try(const build *self, const char *made, const td_progress *progress, GString *log,
    GError **error) {
  g_autofree char *complaint = NULL;
  td_trial_verdict verdict =
      td_observer_try(self->host, &self->torch, made, self->folder, progress, log, &complaint);
  if (verdict == TD_TRIAL_PASSED) return TRUE;
  gboolean failed = verdict == TD_TRIAL_FAILED;
  return reject(self, failed, error,
                failed ? "the observer failed its trial with"
                       : "the observer could not be tried with",
                complaint);
}

/* The observer gets its name once it is known to be good, or if nobody can try it. */
static gboolean
keep(const build *self, const char *made, GError **error) {
  g_autofree char *checksum = checksum_of(made);
  if (!self->host->python)
    td_announcer_say(self->announcer,
                     "the observer was not tried, because the program is no Python");
  if (checksum && g_rename(made, self->path) == 0) {
    keep_verdict(self, self->host->python ? PASSED : UNTRIED, checksum);
    return TRUE;
  }
  return td_fail(error, "%s: %s", self->path, g_strerror(errno));
}

/* `found`: there may be an observer that nobody has tried. */
static gboolean
make(const build *self, state found, GError **error) {
  g_autofree char *output = g_strdup_printf("%s.%d", self->path, (int)getpid());
  const char *made = found == STATE_UNTRIED ? self->path : output;
  g_autoptr(GString) log = g_string_new(NULL);
  const td_progress progress = {self->announcer, g_get_monotonic_time()};
  remove_leftovers(self);
  td_announcer_begin(self->announcer,
                     "%s an observer for PyTorch %s, only this once (a minute or two)...",
                     found == STATE_UNTRIED ? "trying" : "compiling", self->torch.version);
  gboolean good = found == STATE_UNTRIED || compile(self, output, &progress, log, error);
  if (good && self->host->python) good = try(self, made, &progress, log, error);
  td_announcer_end(self->announcer);
  g_file_set_contents(self->log, log->str, -1, NULL);
  good = good && keep(self, made, error);
  g_unlink(output);
  return good;
}

/* The lock's file, locked; -1 with the reason. Another `tapedeck` may hold it for minutes. */
static int
lock(const build *self, GError **error) {
  g_autofree char *path = g_build_filename(self->folder, "lock", NULL);
  int fd = g_open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    td_fail(error, "%s: %s", path, g_strerror(errno));
    return -1;
  }
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  td_announcer_say(self->announcer, "another tapedeck compiles the observer; waiting for it");
  while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  return fd;
}

/* A process that waited for the lock may find the observer already made. The mutex makes the
 * processes of one recording wait without a word. */
static gboolean
find_or_make(const build *self, GError **error) {
  static GMutex mutex;
  state found = look_up(self, error);
  if (found == STATE_READY || found == STATE_FAILED) return found == STATE_READY;
  g_mutex_lock(&mutex);
  found = look_up(self, error);
  int fd = found == STATE_NONE || found == STATE_UNTRIED ? lock(self, error) : -1;
  if (fd >= 0) {
    found = look_up(self, error);
    if (found == STATE_NONE || found == STATE_UNTRIED)
      found = make(self, found, error) ? STATE_READY : STATE_FAILED;
    close(fd);
  }
  g_mutex_unlock(&mutex);
  return found == STATE_READY;
}

char *
td_probe_build(const char *libtorch_cpu, const td_trial_host *host, gboolean again,
               const td_announcer *announcer, GError **error) {
  g_auto(build) self = {.host = host, .again = again, .announcer = announcer};
  if (td_torch_files_find(&self.torch, libtorch_cpu, error) &&
      td_observer_compiler_find(&self.compiler, error) && choose_folder(&self, error) &&
      find_or_make(&self, error))
    return g_steal_pointer(&self.path);
  return NULL;
}

typedef struct request {
  char *library;       /* (owned) */
  td_trial_host *host; /* (owned) */
  const td_announcer *announcer;
} request;

static void
request_free(gpointer data) {
  request *self = data;
  g_free(self->library);
  td_trial_host_free(self->host);
  g_free(self);
}

static void
build_cb(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const request *self = data;
  GError *error = NULL;
  char *path = td_probe_build(self->library, self->host, FALSE, self->announcer, &error);
  if (path)
    g_task_return_pointer(task, path, g_free);
  else
    g_task_return_error(task, error);
}

void
td_probe_build_async(const char *libtorch_cpu, td_trial_host *host, const td_announcer *announcer,
                     GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, NULL, done, data);
  request *made = g_new(request, 1);
  *made = (request){g_strdup(libtorch_cpu), host, announcer};
  g_task_set_task_data(task, made, request_free);
  g_task_run_in_thread(task, build_cb);
}

char *
td_probe_build_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
