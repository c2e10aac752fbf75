/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/output_folder.h"

#include "app/common/leftovers.h"
#include "app/common/output_file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void
end(td_output_folder *folder) {
  for (char **name = folder->names; *name; name++) {
    g_autofree char *file = g_build_filename(folder->part, *name, NULL);
    g_unlink(file);
    td_leftovers_forget(file);
  }
  g_rmdir(folder->part);
  td_leftovers_forget(folder->part);
  g_free(folder->path);
  g_free(folder->part);
  g_strfreev(folder->names);
  *folder = (td_output_folder){0};
}

/* The name may end with a slash. */
static char *
without_slash(const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  return g_strndup(path, length);
}

bool
td_output_folder_begin(td_output_folder *folder, const char *path, const char *const *names) {
  *folder = (td_output_folder){.path = without_slash(path), .names = g_strdupv((char **)names)};
  folder->part = g_strdup_printf("%s.%d.part", folder->path, (int)getpid());
  td_leftovers_add(folder->part);
  for (char **name = folder->names; *name; name++) {
    g_autofree char *file = g_build_filename(folder->part, *name, NULL);
    td_leftovers_add(file);
  }
  if (g_mkdir(folder->part, 0777) == 0) return true;
  int error = errno;
  end(folder);
  errno = error;
  return false;
}

static bool
move_files(const td_output_folder *folder) {
  for (char **name = folder->names; *name; name++) {
    g_autofree char *from = g_build_filename(folder->part, *name, NULL);
    g_autofree char *to = g_build_filename(folder->path, *name, NULL);
    if (g_rename(from, to) != 0) return false;
  }
  return true;
}

bool
td_output_folder_keep(td_output_folder *folder, bool overwrite) {
  bool exists = overwrite && g_file_test(folder->path, G_FILE_TEST_IS_DIR);
  bool kept = exists ? move_files(folder) : td_output_rename(folder->part, folder->path, false);
  int error = errno;
  end(folder);
  errno = error;
  return kept;
}

void
td_output_folder_drop(td_output_folder *folder) {
  end(folder);
}
