/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/preload.h"

#include "app/common/paths.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "libtapedeck-preload.so"

/* Makes `folder` for this user alone. The folder may be there already, but not another user's:
 * /tmp is for all, and its owner could choose what we load. */
static bool
make_own_folder(const char *folder) {
  GStatBuf info;
  if (g_mkdir(folder, 0700) == 0) return true;
  if (errno != EEXIST || g_lstat(folder, &info) != 0) return false;
  errno = EPERM;
  return S_ISDIR(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 0022) == 0;
}

static bool
leads_to(const char *link, const char *target) {
  g_autofree char *now = g_file_read_link(link, NULL);
  return now && strcmp(now, target) == 0;
}

/* Another process may make the same link at the same moment. */
static bool
make_link(const char *link, const char *target) {
  if (leads_to(link, target)) return true;
  g_unlink(link);
  if (symlink(target, link) == 0) return true;
  int error = errno;
  bool is_there = leads_to(link, target);
  errno = error;
  return is_there;
}

char *
td_preload_path(const char *library, char **problem) {
  if (!strpbrk(library, " :")) return g_strdup(library);
  g_autofree char *target = g_path_get_dirname(library);
  g_autofree char *name = g_path_get_basename(library);
  g_autofree char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA256, target, -1);
  g_autofree char *folder = g_strdup_printf("/tmp/tapedeck-libraries-%u", (unsigned)geteuid());
  g_autofree char *link = g_strdup_printf("%s/%.16s", folder, key);
  if (make_own_folder(folder) && make_link(link, target)) return g_build_filename(link, name, NULL);
  *problem = g_strdup_printf("LD_PRELOAD cannot hold the space or colon in %s, and a link to it "
                             "cannot be made in %s: %s",
                             target, folder, g_strerror(errno));
  return NULL;
}

/* The runtime of a sanitizer ends the program if another library comes before it. */
static size_t
sanitizers_length(const char *libraries) {
  size_t length = 0;
  for (;;) {
    size_t n = strcspn(libraries + length, ": ");
    g_autofree char *path = g_strndup(libraries + length, n);
    g_autofree char *name = g_path_get_basename(path);
    if (!g_regex_match_simple("^lib([a-z]*san|clang_rt\\.)", name, 0, 0)) return length;
    length += n;
    if (!libraries[length]) return length;
    length++;
  }
}

static char *
add_library(const char *libraries, const char *path) {
  size_t n = sanitizers_length(libraries);
  const char *rest = libraries + n;
  g_autofree char *first = g_strndup(libraries, n);
  bool ends = n == 0 || strchr(": ", libraries[n - 1]);
  return g_strconcat(first, ends ? "" : ":", path, *rest ? ":" : "", rest, NULL);
}

char **
td_preload_set(char **environment, char **problem) {
  g_autofree char *library = g_build_filename(td_path_probe_libraries(), PRELOAD, NULL);
  g_autofree char *path = td_preload_path(library, problem);
  if (!path) {
    g_strfreev(environment);
    return NULL;
  }
  const char *before = g_environ_getenv(environment, "LD_PRELOAD");
  g_autofree char *all = add_library(before ? before : "", path);
  return g_environ_setenv(environment, "LD_PRELOAD", all, TRUE);
}
