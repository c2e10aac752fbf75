/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/remote_list.h"

#include "app/common/exit.h"
#include "app/session/remote/remote_ssh.h"

#include <glib-unix.h>
#include <stdio.h>
#include <unistd.h>

static gboolean
print_cb(gint fd, GIOCondition condition, gpointer data) {
  char bytes[4096];
  ssize_t n = read(fd, bytes, sizeof bytes);
  if (n > 0) fwrite(bytes, 1, (size_t)n, stdout);
  *(bool *)data = n <= 0;
  return n > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

int
td_remote_list(const td_remote_address *address) {
  td_remote_ssh ssh;
  g_autofree char *problem = NULL;
  bool is_over = false;
  if (!td_remote_ssh_start(&ssh, address, "attach", &problem))
    return td_command_fail(address->label, "%s", problem);
  g_unix_fd_add(ssh.out, G_IO_IN | G_IO_HUP | G_IO_ERR, print_cb, &is_over);
  while (!is_over)
    g_main_context_iteration(NULL, TRUE);
  td_remote_ssh_end(&ssh);
  if (ssh.status == 0) return TD_EXIT_OK;
  return td_command_fail(address->label, "%s", td_remote_ssh_explain(&ssh));
}
