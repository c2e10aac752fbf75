/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <unistd.h>

/* False: the other end is gone. */
static bool
write_some(td_outlet *outlet) {
  ssize_t n = write(outlet->fd, outlet->unsent->data, outlet->unsent->len);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  g_byte_array_remove_range(outlet->unsent, 0, (guint)n);
  return true;
}

/* If the other end is gone, its reading side tells. */
static gboolean
write_cb(gint fd, GIOCondition condition, gpointer data) {
  td_outlet *outlet = data;
  bool fine = write_some(outlet);
  if (fine && outlet->unsent->len) return G_SOURCE_CONTINUE;
  outlet->writing = 0;
  if (!fine)
    g_byte_array_set_size(outlet->unsent, 0);
  else if (outlet->drained)
    outlet->drained(outlet->data);
  return G_SOURCE_REMOVE;
}

static void
wait_for_room(td_outlet *outlet) {
  if (outlet->fd >= 0 && outlet->unsent->len && !outlet->writing)
    outlet->writing = g_unix_fd_add(outlet->fd, G_IO_OUT, write_cb, outlet);
}

void
td_outlet_init(td_outlet *outlet, void (*drained)(void *data), void *data) {
  *outlet = (td_outlet){.fd = -1, .unsent = g_byte_array_new(), .drained = drained, .data = data};
}

void
td_outlet_set_file(td_outlet *outlet, int fd) {
  outlet->fd = fd;
  g_unix_set_fd_nonblocking(fd, TRUE, NULL);
  wait_for_room(outlet);
}

void
td_outlet_fini(td_outlet *outlet) {
  if (outlet->writing) g_source_remove(outlet->writing);
  if (outlet->fd >= 0) close(outlet->fd);
  if (outlet->unsent) g_byte_array_unref(outlet->unsent);
  *outlet = (td_outlet){.fd = -1};
}

bool
td_outlet_send(td_outlet *outlet, const char *bytes, gsize n_bytes) {
  if (!outlet->unsent || n_bytes > TD_OUTLET_BYTES_MAX - outlet->unsent->len) return false;
  g_byte_array_append(outlet->unsent, (const guint8 *)bytes, (guint)n_bytes);
  if (outlet->fd >= 0 && !outlet->writing && !write_some(outlet)) return false;
  wait_for_room(outlet);
  return true;
}
