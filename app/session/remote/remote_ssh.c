/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/remote_ssh.h"

#include "app/common/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 2000
#define NO_CONNECTION 255 /* the status of ssh itself */

static void
ended_cb(GPid pid, gint status, gpointer data) {
  td_remote_ssh *ssh = data;
  ssh->runs = false;
  ssh->status = status;
}

bool
td_remote_ssh_start(td_remote_ssh *ssh, const td_remote_address *address, const char *arguments,
                    char **problem) {
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) argv = td_remote_address_dup_command(address, arguments);
  *ssh = (td_remote_ssh){.in = -1, .out = -1};
  td_child_expect();
  ssh->runs =
      g_spawn_async_with_pipes(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                               NULL, NULL, &ssh->pid, &ssh->in, &ssh->out, NULL, &error);
  if (!ssh->runs)
    *problem = g_strdup_printf("cannot start %s: %s", argv[0], error->message);
  else
    g_child_watch_add(ssh->pid, ended_cb, ssh);
  return ssh->runs;
}

static gboolean
patience_over(gpointer data) {
  kill(((td_remote_ssh *)data)->pid, SIGTERM);
  return G_SOURCE_REMOVE;
}

void
td_remote_ssh_end(td_remote_ssh *ssh) {
  if (ssh->in >= 0) close(ssh->in);
  if (ssh->out >= 0) close(ssh->out);
  ssh->in = ssh->out = -1;
  if (!ssh->runs) return;
  guint patience = g_timeout_add(PATIENCE_MS, patience_over, ssh);
  while (ssh->runs)
    g_main_context_iteration(NULL, TRUE);
  GSource *source = g_main_context_find_source_by_id(NULL, patience);
  if (source) g_source_destroy(source);
}

const char *
td_remote_ssh_explain(const td_remote_ssh *ssh) {
  int status = WIFEXITED(ssh->status) ? WEXITSTATUS(ssh->status) : -1;
  if (status == NO_CONNECTION) return "ssh could not connect";
  if (status == TD_EXIT_NOT_FOUND || status == TD_EXIT_NOT_EXECUTABLE)
    return "no tapedeck was found there; put its path behind the address: "
           "'ssh://HOST/PID?tapedeck=/path/of/tapedeck'";
  if (WIFSIGNALED(ssh->status)) return "a signal ended ssh";
  return "no session came about; is there a Tapedeck that knows the command `relay`?";
}
