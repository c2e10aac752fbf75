/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/confined_child.h"

#include "app/command.h"
#include "app/commands/confine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void
be_child(pid_t parent, int (*open)(void *data), int (*work)(void *data), void *data) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(TD_EXIT_USAGE);
  int status = open(data);
  if (status != TD_EXIT_OK) exit(status);
  td_confine_to_reading();
  exit(work(data));
}

int
td_confined_child_run(int (*open)(void *data), int (*work)(void *data), void *data) {
  int status;
  pid_t parent = getpid();
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) be_child(parent, open, work, data);
  if (child < 0) return td_command_fail(NULL, "cannot start a process: %s", g_strerror(errno));
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return td_command_fail(NULL, "waitpid: %s", g_strerror(errno));
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return td_command_fail(NULL, "the reader was ended by signal %d", WTERMSIG(status));
}
