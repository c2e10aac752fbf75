/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/remote_list.h"

#include "app/session/remote/remote_ssh.h"

#include <glib-unix.h>
#include <unistd.h>

typedef struct listing {
  FILE *out;
  bool is_over;
} listing;

static gboolean
pass_on_cb(gint fd, GIOCondition condition, gpointer data) {
  listing *self = data;
  char bytes[4096];
  ssize_t n = read(fd, bytes, sizeof bytes);
  if (n > 0) fwrite(bytes, 1, (size_t)n, self->out);
  self->is_over = n <= 0;
  return n > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

bool
td_remote_list(const td_remote_address *address, FILE *out, char **problem) {
  td_remote_ssh ssh;
  listing self = {.out = out};
  if (!td_remote_ssh_start(&ssh, address, "attach", problem)) return false;
  g_unix_fd_add(ssh.out, G_IO_IN | G_IO_HUP | G_IO_ERR, pass_on_cb, &self);
  while (!self.is_over)
    g_main_context_iteration(NULL, TRUE);
  td_remote_ssh_end(&ssh);
  if (ssh.status != 0) *problem = g_strdup(td_remote_ssh_explain(&ssh));
  return ssh.status == 0;
}
