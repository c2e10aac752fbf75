/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
td_trust_holds(const struct stat *info, uid_t user) {
  bool is_open = info->st_mode & (S_IWGRP | S_IWOTH);
  bool is_sticky = S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX);
  return (info->st_uid == user || info->st_uid == 0) && (!is_open || is_sticky);
}

static td_status
check_one(const char *path, td_error *error) {
  struct stat info;
  if (lstat(path, &info) != 0) return td_error_set(error, TD_IO, "%s: %s", path, strerror(errno));
  if (td_trust_holds(&info, geteuid())) return TD_OK;
  return td_error_set(error, TD_IO, "another user may write to %s", path);
}

/* From the root down: a folder says something only about a path that nobody else can change. */
static td_status
check_all(char *path, td_error *error) {
  td_status status = check_one("/", error);
  for (char *slash = strchr(path + 1, '/'); slash && !status; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    status = check_one(path, error);
    *slash = '/';
  }
  return status ? status : check_one(path, error);
}

td_status
td_trust_check(const char *path, char **real, td_error *error) {
  char *resolved = realpath(path, NULL);
  if (!resolved) return td_error_set(error, TD_IO, "%s: %s", path, strerror(errno));
  td_status status = check_all(resolved, error);
  if (status)
    free(resolved);
  else
    *real = resolved;
  return status;
}
