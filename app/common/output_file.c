/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/output_file.h"

#include "app/common/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
td_output_is_special(const char *path) {
  GStatBuf info;
  return g_stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

void
td_output_file_begin(td_output_file *file, const char *path) {
  bool is_special = td_output_is_special(path);
  g_autofree char *target = is_special ? NULL : realpath(path, NULL);
  file->path = g_strdup(target ? target : path);
  file->part =
      is_special ? g_strdup(path) : g_strdup_printf("%s.%d.part", file->path, (int)getpid());
  if (!is_special) td_leftovers_add(file->part);
}

bool
td_output_is_taken(const char *path) {
  GStatBuf info;
  return g_lstat(path, &info) == 0;
}

bool
td_output_rename(const char *from, const char *to, bool overwrite) {
  if (overwrite) return g_rename(from, to) == 0;
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  /* Some file systems know no such thing. */
  return errno == EINVAL && !td_output_is_taken(to) && g_rename(from, to) == 0;
}

static void
end(td_output_file *file) {
  td_leftovers_forget(file->part);
  g_free(file->path);
  g_free(file->part);
  *file = (td_output_file){0};
}

bool
td_output_file_keep(td_output_file *file, bool overwrite) {
  bool is_special = strcmp(file->part, file->path) == 0;
  bool kept = is_special || td_output_rename(file->part, file->path, overwrite);
  int error = errno;
  if (!kept) g_unlink(file->part);
  end(file);
  errno = error;
  return kept;
}

void
td_output_file_drop(td_output_file *file) {
  if (strcmp(file->part, file->path) != 0) g_unlink(file->part);
  end(file);
}
