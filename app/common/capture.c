/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MOST_BYTES (64 << 20) /* that are kept */

static void
pass_on(int fd, const char *bytes, ssize_t n) {
  while (n > 0) {
    ssize_t written = write(fd, bytes, (size_t)n);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return; /* nobody reads any more */
    bytes += written;
    n -= written;
  }
}

static void *
read_all(void *data) {
  td_capture *self = data;
  char bytes[4096];
  for (;;) {
    ssize_t n = read(self->end, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return NULL;
    if (self->shown) pass_on(self->saved, bytes, n);
    if (self->text->len < MOST_BYTES) g_string_append_len(self->text, bytes, n);
  }
}

bool
td_capture_begin(td_capture *capture, int fd, bool shown) {
  int ends[2];
  int saved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (saved < 0) return false;
  if (pipe2(ends, O_CLOEXEC)) {
    close(saved);
    return false;
  }
  dup2(ends[1], fd);
  close(ends[1]);
  *capture = (td_capture){.fd = fd, .saved = saved, .end = ends[0], .shown = shown};
  capture->text = g_string_new(NULL);
  capture->thread = g_thread_new("capture", read_all, capture);
  return true;
}

char *
td_capture_end(td_capture *capture) {
  dup2(capture->saved, capture->fd);
  g_thread_join(capture->thread);
  close(capture->saved);
  close(capture->end);
  return g_string_free(capture->text, FALSE);
}
