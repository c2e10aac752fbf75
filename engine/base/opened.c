/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/opened.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

static struct {
  const char *path; /* (borrowed) or NULL */
  int fd;           /* (borrowed) */
} opened;

void
td_opened_set(const char *path, int fd) {
  opened.path = path;
  opened.fd = fd;
}

int
td_opened_dup(const char *path) {
  if (!opened.path || strcmp(path, opened.path) != 0) return -1;
  return fcntl(opened.fd, F_DUPFD_CLOEXEC, 0);
}
