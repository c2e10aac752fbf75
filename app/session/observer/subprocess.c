/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/observer/subprocess.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void
count(const td_progress *self) {
  gint64 seconds = (g_get_monotonic_time() - self->begun_us) / G_USEC_PER_SEC;
  td_announcer_count(self->announcer, (int)seconds);
}

/* This process may only forward signals. The program must still react to them. It ends with the
 * thread that waits for it. */
static void
prepare_cb(gpointer data) {
  const td_subprocess *subprocess = data;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  alarm(subprocess->limit_s);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static void
read_all(int fd, const td_progress *progress, GString *said) {
  char bytes[4096];
  ssize_t n = 1;
  while (n != 0) {
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    int ready = poll(&waiting, 1, 1000);
    count(progress);
    if (ready <= 0) continue;
    n = read(fd, bytes, sizeof bytes);
    if (n > 0) g_string_append_len(said, bytes, n);
    if (n < 0 && errno != EINTR) break;
  }
}

gboolean
td_subprocess_run(const td_subprocess *subprocess, const td_progress *progress, GString *said,
                  int *wait_status, GError **error) {
  GPid pid;
  int from;
  if (!g_spawn_async_with_pipes(subprocess->folder, subprocess->argv, subprocess->environment,
                                G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, prepare_cb,
                                (gpointer)subprocess, &pid, NULL, NULL, &from, error))
    return FALSE;
  read_all(from, progress, said);
  close(from);
  while (waitpid(pid, wait_status, 0) < 0 && errno == EINTR) {
  }
  return TRUE;
}
