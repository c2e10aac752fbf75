/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void
fill_signals(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGCHLD);
  for (size_t i = 0; i < G_N_ELEMENTS(forwarded); i++)
    sigaddset(set, forwarded[i]);
}

static int
spawn(char **argv, const sigset_t *mask, pid_t *pid) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int error = posix_spawn(pid, argv[0], NULL, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/* Signals wait in the mask and are taken one by one, so nothing happens behind the program's back.
 * What the terminal sends (SI_KERNEL) the child has got already, being in the same process group.
 */
static int
wait_and_forward(pid_t pid, const sigset_t *signals) {
  siginfo_t info;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    int number = sigwaitinfo(signals, &info);
    if (number > 0 && number != SIGCHLD && info.si_code <= 0) kill(pid, number);
  }
  return WIFSIGNALED(status) ? TD_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int
td_child_run(char **argv, char **problem) {
  sigset_t signals, before;
  pid_t pid;
  fill_signals(&signals);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &signals, &before);
  int error = spawn(argv, &before, &pid);
  int status = error == 0        ? wait_and_forward(pid, &signals)
               : error == ENOENT ? TD_EXIT_NOT_FOUND
                                 : TD_EXIT_NOT_EXECUTABLE;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (error) *problem = g_strdup_printf("%s: %s", argv[0], strerror(error));
  return status;
}
