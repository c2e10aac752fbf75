/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/session_socket.h"

#include "app/common/paths.h"
#include "app/session/session_places.h"
#include "app/session/stale_sessions.h"
#include "engine/base/trust.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A process that outlives the session may still look for its socket. So nobody else may be able to
 * make the same path again. */
static bool
is_private(const char *base) {
  struct stat info;
  g_autofree char *real = NULL;
  return td_trust_check(base, &real, NULL) == TD_OK && g_stat(real, &info) == 0 &&
         !(info.st_mode & S_ISVTX);
}

static bool
listen_at(td_session_socket *self) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, self->path, sizeof address.sun_path);
  self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return self->fd >= 0 && bind(self->fd, (const void *)&address, sizeof address) == 0 &&
         g_chmod(self->path, 0600) == 0 && listen(self->fd, 128) == 0;
}

void
td_session_socket_close(td_session_socket *self) {
  if (self->fd >= 0) close(self->fd);
  self->fd = -1;
  if (self->path) g_unlink(self->path);
  if (self->folder && !self->stays) g_rmdir(self->folder);
  g_clear_pointer(&self->path, g_free);
  g_clear_pointer(&self->folder, g_free);
}

/* Listens in a new folder for this user alone. The path must leave room for the socket's name. */
static bool
open_socket(td_session_socket *self, const char *base) {
  td_stale_sessions_remove(base);
  char *folder = g_build_filename(base, "tapedeck-XXXXXX", NULL);
  if (strlen(base) < 64 && g_mkdtemp_full(folder, 0700)) {
    self->folder = folder;
    self->path = g_build_filename(folder, "session", NULL);
    if (listen_at(self)) return true;
    td_session_socket_close(self);
    return false;
  }
  g_free(folder);
  return false;
}

/* In the user's runtime folder or in the user's cache. In /tmp, the last place, the folder stays,
 * empty: else another user could make one of its name. */
static bool
open_somewhere(td_session_socket *self) {
  g_auto(GStrv) places = td_session_places_dup();
  for (char **place = places; *place; place++) {
    self->stays = !place[1];
    if (g_str_equal(*place, td_path_cache())) g_mkdir_with_parents(*place, 0700);
    if ((self->stays || is_private(*place)) && open_socket(self, *place)) return true;
  }
  return false;
}

bool
td_session_socket_open(td_session_socket *self) {
  *self = (td_session_socket){.fd = -1};
  return open_somewhere(self);
}
