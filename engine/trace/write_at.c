/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/write_at.h"

#include <errno.h>
#include <unistd.h>

int
td_write_at(int fd, const void *bytes, size_t n, uint64_t offset) {
  for (size_t done = 0; done < n;) {
    ssize_t written = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    done += (size_t)written;
  }
  return 0;
}
