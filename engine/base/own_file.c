/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int
move_from_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

td_own_file
td_own_file_init(int fd) {
  struct stat info;
  fd = move_from_standard(fd);
  if (fd < 0 || fstat(fd, &info) != 0) return (td_own_file){.fd = fd};
  return (td_own_file){.fd = fd, .device = info.st_dev, .number = info.st_ino};
}

bool
td_own_file_is_there(const td_own_file *file) {
  int before = errno;
  struct stat info;
  bool is_there = file->fd >= 0 && fstat(file->fd, &info) == 0 && info.st_dev == file->device &&
                  info.st_ino == file->number;
  errno = before;
  return is_there;
}

int
td_own_file_close(const td_own_file *file) {
  return td_own_file_is_there(file) && close(file->fd) != 0 ? errno : 0;
}
