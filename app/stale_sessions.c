/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/stale_sessions.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
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
remove_if_stale(const char *folder) {
  g_autofree char *path = g_build_filename(folder, "session", NULL);
  GStatBuf info;
  if (g_lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return;
  if (g_lstat(path, &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  if (time(NULL) - info.st_mtime < OLD_SECONDS || !nobody_answers(path)) return;
  g_unlink(path);
  g_rmdir(folder);
}

void
td_stale_sessions_remove(const char *base) {
  g_autoptr(GDir) dir = g_dir_open(base, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    if (!g_str_has_prefix(name, "tapedeck-") || strlen(name) != strlen("tapedeck-XXXXXX")) continue;
    g_autofree char *folder = g_build_filename(base, name, NULL);
    remove_if_stale(folder);
  }
}
