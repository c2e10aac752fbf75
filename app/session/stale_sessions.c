/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/stale_sessions.h"

#include "app/session/session_places.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define OLD_SECONDS 60

static bool
nobody_answers(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
    return false;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool refused =
      fd >= 0 && connect(fd, (const void *)&address, sizeof address) != 0 && errno == ECONNREFUSED;
  if (fd >= 0) close(fd);
  return refused;
}

static void
remove_if_stale(const char *path) {
  GStatBuf info;
  if (g_lstat(path, &info) != 0 || time(NULL) - info.st_mtime < OLD_SECONDS) return;
  if (!nobody_answers(path)) return;
  g_autofree char *folder = g_path_get_dirname(path);
  g_unlink(path);
  g_rmdir(folder);
}

void
td_stale_sessions_remove(const char *base) {
  g_auto(GStrv) paths = td_session_places_find(base);
  for (char **path = paths; *path; path++)
    remove_if_stale(*path);
}
