/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/confined_child.h"

#include "app/command.h"
#include "app/commands/confine.h"
#include "app/common/output_file.h"
#include "engine/base/opened.h"

#include <errno.h>
#include <fcntl.h>
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
  int status = open ? open(data) : TD_EXIT_OK;
  if (status != TD_EXIT_OK) exit(status);
  td_confine_to_filling();
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

typedef struct filling {
  td_confined_fill fill;
  const char *part;
  int fd;
  void *data;
} filling;

static int
fill_cb(void *data) {
  const filling *self = data;
  td_opened_set(self->part, self->fd);
  return self->fill(self->part, self->fd, self->data);
}

/* Who writes a tape reads it too. A pipe or a device has nothing to read. */
static int
open_part(const td_output_file *output) {
  int how = strcmp(output->part, output->path) == 0 ? O_WRONLY : O_RDWR;
  return open(output->part, how | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

int
td_confined_child_write(const char *path, td_confined_fill fill, void *data) {
  td_output_file output;
  td_output_file_begin(&output, path);
  filling self = {fill, output.part, open_part(&output), data};
  int status = self.fd >= 0 ? td_confined_child_run(NULL, fill_cb, &self)
                            : td_command_fail(path, "%s", g_strerror(errno));
  if (self.fd >= 0) close(self.fd);
  if (status != TD_EXIT_OK)
    td_output_file_drop(&output);
  else if (!td_output_file_keep(&output, true))
    status = td_command_fail(path, "%s", g_strerror(errno));
  return status;
}
