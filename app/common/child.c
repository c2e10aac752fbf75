/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/child.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

typedef struct child_run {
  const td_child_options *options;
  GMainLoop *loop; /* (owned) */
  pid_t pid;
  int status; /* as waitpid has it */
} child_run;

static void
fill_signals(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < G_N_ELEMENTS(forwarded); i++)
    sigaddset(set, forwarded[i]);
}

static int
spawn(char **argv, char **environment, short flags, const sigset_t *mask,
      const posix_spawn_file_actions_t *files, pid_t *pid) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, mask);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | flags);
  int error =
      posix_spawnp(pid, argv[0], files, &attributes, argv, environment ? environment : environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/* The child is in the same process group. So it has already got what the terminal sends
 * (SI_KERNEL). */
static gboolean
signal_cb(gint fd, GIOCondition condition, gpointer data) {
  child_run *run = data;
  struct signalfd_siginfo info;
  if (read(fd, &info, sizeof info) != sizeof info) return G_SOURCE_CONTINUE;
  int number = (int)info.ssi_signo;
  bool is_own = number == run->options->own_signal;
  if (info.ssi_code <= 0 && !is_own) kill(run->pid, number);
  if (run->options->signalled) run->options->signalled(number, run->options->data);
  return G_SOURCE_CONTINUE;
}

static void
ended_cb(GPid pid, gint status, gpointer data) {
  child_run *run = data;
  run->status = status;
  g_main_loop_quit(run->loop);
}

static int
exit_status(int status) {
  return WIFSIGNALED(status) ? TD_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int
wait_and_forward(child_run *run, const sigset_t *signals) {
  int fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  guint source = g_unix_fd_add(fd, G_IO_IN, signal_cb, run);
  run->loop = g_main_loop_new(NULL, FALSE);
  g_child_watch_add(run->pid, ended_cb, run);
  g_main_loop_run(run->loop);
  g_main_loop_unref(run->loop);
  g_source_remove(source);
  close(fd);
  return exit_status(run->status);
}

void
td_child_expect(void) {
  struct sigaction now;
  if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

/* Signals wait in the mask, and this takes them one by one. So no handler interrupts the
 * program. */
int
td_child_run(const td_child_options *options, char **problem) {
  sigset_t signals, before;
  child_run run = {.options = options};
  fill_signals(&signals);
  td_child_expect();
  sigprocmask(SIG_BLOCK, &signals, &before);
  int error = spawn(options->argv, options->environment, 0, &before, NULL, &run.pid);
  if (!error && options->started) options->started(run.pid, options->data);
  int status = error == 0        ? wait_and_forward(&run, &signals)
               : error == ENOENT ? TD_EXIT_NOT_FOUND
                                 : TD_EXIT_NOT_EXECUTABLE;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (error) *problem = g_strdup_printf("%s: %s", options->argv[0], strerror(error));
  return status;
}

int
td_child_spawn(char **argv, char **environment, pid_t *pid) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (size_t i = 0; i < G_N_ELEMENTS(forwarded); i++)
    sigdelset(&mask, forwarded[i]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int error = spawn(argv, environment, POSIX_SPAWN_SETPGROUP, &mask, &files, pid);
  posix_spawn_file_actions_destroy(&files);
  return error;
}
