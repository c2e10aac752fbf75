/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Letting go of a process]
 * Problem: gdb calls functions in the process. If gdb is killed meanwhile, the process dies of it.
 * But somebody may press Ctrl+C, and the limit of time may be over.
 *
 * Trick: gdb has a process group of its own, so the terminal's Ctrl+C reaches this process alone.
 * It sends SIGINT first: the script puts everything back, and gdb detaches. The harder signals
 * come only if gdb does not end, each some seconds after the one before.
 *
 * Until the script begins, gdb hands SIGINT on to the process. So it is blocked until then, and the
 * first signal is SIGKILL: gdb has called nothing yet. That leaves the process stopped. It was not
 * before, see obstacle.h. So SIGCONT follows, which also takes back a stop that is on its way. */
#include "app/session/attach/gdb.h"

#include "app/common/process_facts.h"
#include "app/session/attach/obstacle.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "@tapedeck "
#define LIMIT_S 90 /* libraries of some GB have many names to read */
#define HARDER_S 10
#define PRINTED_MAX (64u << 20)

typedef struct look {
  GMainLoop *loop; /* (owned) */
  GPid pid;        /* of gdb */
  GString *text;   /* (owned) what it has printed and nobody has heard */
  GString *said;   /* (owned) its messages */
  void (*hear)(const td_line *line, void *data);
  void *data;
  guint reading, limit, n_signals;
  size_t n_bytes;
  bool has_begun, is_interrupted, is_late, is_done;
} look;

static void
hear_line(look *self, const char *bytes) {
  td_line line;
  if (!g_str_has_prefix(bytes, MARK)) {
    if (self->said->len < 4096) g_string_append_printf(self->said, "%s\n", bytes);
    return;
  }
  bytes += strlen(MARK);
  if (!td_line_parse(&line, bytes, strlen(bytes))) return;
  self->has_begun |= td_line_is(&line, "begun");
  self->is_done |= td_line_is(&line, "done");
  self->hear(&line, self->data);
  td_line_fini(&line);
}

static void
hear_lines(look *self) {
  char *end;
  while ((end = memchr(self->text->str, '\n', self->text->len))) {
    *end = '\0';
    hear_line(self, self->text->str);
    g_string_erase(self->text, 0, end + 1 - self->text->str);
  }
}

static gboolean
read_cb(gint fd, GIOCondition condition, gpointer data) {
  look *self = data;
  char bytes[4096];
  ssize_t n = read(fd, bytes, sizeof bytes);
  if (n < 0 && errno == EINTR) return G_SOURCE_CONTINUE;
  if (n > 0 && (self->n_bytes += (size_t)n) < PRINTED_MAX) {
    g_string_append_len(self->text, bytes, n);
    hear_lines(self);
    return G_SOURCE_CONTINUE;
  }
  self->reading = 0;
  g_main_loop_quit(self->loop);
  return G_SOURCE_REMOVE;
}

/* ---- how it ends ---- */

static gboolean harder_cb(gpointer data);

static void
press(look *self) {
  static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
  guint last = G_N_ELEMENTS(signals) - 1;
  kill(self->pid, signals[self->has_begun ? MIN(self->n_signals, last) : last]);
  self->n_signals++;
  if (self->limit) g_source_remove(self->limit);
  self->limit = g_timeout_add_seconds(HARDER_S, harder_cb, self);
}

static gboolean
harder_cb(gpointer data) {
  look *self = data;
  self->limit = 0;
  self->is_late = true;
  press(self);
  return G_SOURCE_REMOVE;
}

static gboolean
interrupted_cb(gpointer data) {
  look *self = data;
  if (self->n_signals == 0) press(self);
  self->is_interrupted = true;
  return G_SOURCE_CONTINUE;
}

static void
wait_for_end(look *self, int from) {
  self->loop = g_main_loop_new(NULL, FALSE);
  /* First: a script that has begun is heard before it is interrupted. */
  self->reading = g_unix_fd_add(from, G_IO_IN | G_IO_HUP | G_IO_ERR, read_cb, self);
  guint signals[] = {g_unix_signal_add(SIGINT, interrupted_cb, self),
                     g_unix_signal_add(SIGTERM, interrupted_cb, self),
                     g_unix_signal_add(SIGHUP, interrupted_cb, self)};
  self->limit = g_timeout_add_seconds(LIMIT_S, harder_cb, self);
  g_main_loop_run(self->loop);
  if (self->limit) g_source_remove(self->limit);
  for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
    g_source_remove(signals[i]);
  g_main_loop_unref(self->loop);
  while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR) {
  }
}

/* ---- how it begins ---- */

static void
prepare_cb(gpointer data) {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, NULL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGINT);
}

static int
make_script(void) {
  int fd = memfd_create("tapedeck-stacks", MFD_CLOEXEC);
  gssize length = (gssize)strlen(td_attach_stacks);
  if (fd >= 0 && write(fd, td_attach_stacks, (size_t)length) == length &&
      lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* Nothing of the user's: no settings, no scripts beside libraries, no Python of his own, and no
 * questions to a server for symbols. Words are English, and names of files may have any letter. */
static GStrv
make_environment(void) {
  GStrv own = g_get_environ();
  own = g_environ_unsetenv(own, "PYTHONHOME");
  own = g_environ_unsetenv(own, "PYTHONPATH");
  own = g_environ_unsetenv(own, "DEBUGINFOD_URLS");
  return g_environ_setenv(own, "LC_ALL", "C.UTF-8", TRUE);
}

static bool
start(look *self, const char *gdb, pid_t pid, int *from, char **problem) {
  g_autofree char *number = g_strdup_printf("%d", (int)pid);
  const char *argv[] = {gdb,
                        "-nx",
                        "-batch",
                        "-iex",
                        "set auto-load no",
                        "-iex",
                        "set auto-load libthread-db on",
                        "-iex",
                        "set debuginfod enabled off",
                        "-p",
                        number,
                        "-ex",
                        "python import sys; exec(sys.stdin.read())",
                        NULL};
  g_auto(GStrv) environment = make_environment();
  g_autoptr(GError) error = NULL;
  int script = make_script(), ends[2];
  if (script < 0 || pipe2(ends, O_CLOEXEC) != 0) {
    *problem = g_strdup(g_strerror(errno));
    if (script >= 0) close(script);
    return false;
  }
  bool started =
      g_spawn_async_with_fds(NULL, (char **)argv, environment, G_SPAWN_DO_NOT_REAP_CHILD,
                             prepare_cb, NULL, &self->pid, script, ends[1], ends[1], &error);
  close(script);
  close(ends[1]);
  *from = ends[0];
  if (!started) close(ends[0]);
  if (!started) *problem = g_strdup(error->message);
  return started;
}

/* ---- what went wrong ---- */

/* Of gdb's own words, the line that says why. */
static char *
explain(const look *self, pid_t pid) {
  static const char *const reasons[] = {"ptrace: ", "warning: process"};
  if (self->is_late) return g_strdup_printf("gdb did not end within %d s", LIMIT_S);
  g_autofree char *command = td_process_dup_command(pid);
  if (!command) return g_strdup("the process has ended");
  if (strstr(self->said->str, "Python scripting is not supported"))
    return g_strdup("this gdb has no Python in it; Debian's package gdb has");
  g_auto(GStrv) lines = g_strsplit(self->said->str, "\n", -1);
  for (guint row = 0; row < G_N_ELEMENTS(reasons); row++)
    for (guint i = 0; lines[i]; i++)
      if (strstr(lines[i], reasons[row])) return g_strdup_printf("gdb says: %s", lines[i]);
  return g_strdup("gdb gave no reason");
}

static bool
run(look *self, const char *gdb, pid_t pid, char **problem) {
  int from;
  if (!start(self, gdb, pid, &from, problem)) return false;
  wait_for_end(self, from);
  close(from);
  if (self->n_signals || !self->is_done) kill(pid, SIGCONT);
  if (!self->is_done && !self->is_interrupted) *problem = explain(self, pid);
  return self->is_done && !self->is_interrupted;
}

bool
td_gdb_look(pid_t pid, void (*hear)(const td_line *line, void *data), void *data, char **problem) {
  look self = {.hear = hear, .data = data};
  g_autofree char *gdb = g_find_program_in_path("gdb");
  *problem = gdb ? td_obstacle_find(pid)
                 : g_strdup("this needs gdb, which is not installed: install the package gdb");
  if (*problem) return false;
  self.text = g_string_new(NULL);
  self.said = g_string_new(NULL);
  bool seen = run(&self, gdb, pid, problem);
  g_string_free(self.text, TRUE);
  g_string_free(self.said, TRUE);
  return seen;
}
