/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/remote_desk.h"

#include "app/common/leftovers.h"
#include "engine/control/link.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void
close_window(td_remote_desk *desk) {
  g_clear_handle_id(&desk->reading, g_source_remove);
  if (desk->fd >= 0) close(desk->fd);
  desk->fd = -1;
  td_outlet_fini(&desk->window);
}

static void
drained_cb(void *data) {
  td_remote_desk *desk = data;
  if (desk->is_closing) close_window(desk);
}

static bool
receive(td_remote_desk *desk) {
  char bytes[4096];
  td_line line;
  td_line_result result;
  ssize_t n = recv(desk->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  td_line_reader_add(&desk->reader, bytes, (size_t)n);
  while ((result = td_line_reader_take(&desk->reader, &line)) == TD_LINE_READY) {
    if (!td_line_is(&line, "view")) desk->said(&line, desk->data); /* the relay looks already */
    td_line_fini(&line);
  }
  return result != TD_LINE_BAD;
}

static gboolean
read_cb(gint fd, GIOCondition condition, gpointer data) {
  td_remote_desk *desk = data;
  if (receive(desk)) return G_SOURCE_CONTINUE;
  desk->reading = 0;
  close_window(desk);
  return G_SOURCE_REMOVE;
}

static void
stop_listening(td_remote_desk *desk) {
  g_clear_handle_id(&desk->accepting, g_source_remove);
  if (desk->listening >= 0) close(desk->listening);
  desk->listening = -1;
}

/* There is one window. */
static gboolean
accept_cb(gint listening, GIOCondition condition, gpointer data) {
  td_remote_desk *desk = data;
  int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  int writing = fd >= 0 && td_link_is_own_user(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (writing < 0) {
    if (fd >= 0) close(fd);
    return G_SOURCE_CONTINUE;
  }
  desk->fd = fd;
  desk->reading = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, read_cb, desk);
  desk->accepting = 0;
  stop_listening(desk);
  td_outlet_set_file(&desk->window, writing);
  if (desk->is_closing && !desk->window.unsent->len) close_window(desk);
  return G_SOURCE_REMOVE;
}

int
td_remote_desk_open(td_remote_desk *desk, const char *folder,
                    void (*said)(const td_line *line, void *data), void *data) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  *desk = (td_remote_desk){.listening = -1, .fd = -1, .said = said, .data = data};
  td_outlet_init(&desk->window, drained_cb, desk);
  desk->path = g_build_filename(folder, "session", NULL);
  if (g_strlcpy(address.sun_path, desk->path, sizeof address.sun_path) >= sizeof address.sun_path)
    return ENAMETOOLONG;
  desk->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (desk->listening < 0 || bind(desk->listening, (const void *)&address, sizeof address) != 0 ||
      listen(desk->listening, 1) != 0)
    return errno;
  td_leftovers_add(desk->path);
  desk->accepting = g_unix_fd_add(desk->listening, G_IO_IN, accept_cb, desk);
  return 0;
}

void
td_remote_desk_fini(td_remote_desk *desk) {
  close_window(desk);
  stop_listening(desk);
  td_line_reader_fini(&desk->reader);
  if (desk->path) g_unlink(desk->path);
  if (desk->path) td_leftovers_forget(desk->path);
  g_clear_pointer(&desk->path, g_free);
}

bool
td_remote_desk_tell(td_remote_desk *desk, const td_line *line) {
  td_line_text text;
  td_line_copy(&text, line);
  bool fine = !desk->window.unsent || td_outlet_send(&desk->window, text.bytes, text.n_bytes);
  td_line_text_fini(&text);
  return fine;
}

void
td_remote_desk_hang_up(td_remote_desk *desk) {
  desk->is_closing = true;
  if (desk->fd >= 0 && desk->window.unsent && !desk->window.unsent->len) close_window(desk);
}
