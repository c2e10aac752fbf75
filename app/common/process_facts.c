/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/process_facts.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Fields of /proc/PID/stat after the name, which may have spaces and brackets. */
enum { PARENT_FIELD = 1, START_FIELD = 19 };

static char *
read_file(pid_t pid, const char *name, gsize *n_bytes) {
  g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
  char *bytes = NULL;
  return g_file_get_contents(path, &bytes, n_bytes, NULL) ? bytes : NULL;
}

/* Words end in NUL. A script may stand in one of them, line breaks and all. */
char *
td_process_dup_command(pid_t pid) {
  gsize n;
  g_autofree char *bytes = read_file(pid, "cmdline", &n);
  if (!bytes || n == 0) return NULL;
  for (gsize i = 0; i < n; i++)
    if (g_ascii_iscntrl(bytes[i])) bytes[i] = ' ';
  g_autofree char *line = g_utf8_make_valid(bytes, (gssize)n);
  return g_strdup(g_strstrip(line));
}

/* A field of the process, or -1. */
static gint64
read_stat(pid_t pid, guint field) {
  gsize n;
  g_autofree char *stat = read_file(pid, "stat", &n);
  char *rest = stat ? strrchr(stat, ')') : NULL;
  if (!rest) return -1;
  g_auto(GStrv) fields = g_strsplit(g_strstrip(rest + 1), " ", -1);
  return g_strv_length(fields) > field ? g_ascii_strtoll(fields[field], NULL, 10) : -1;
}

pid_t
td_process_get_parent(pid_t pid) {
  return (pid_t)MAX(0, read_stat(pid, PARENT_FIELD));
}

gint64
td_process_get_seconds(pid_t pid) {
  struct timespec now;
  gint64 ticks = read_stat(pid, START_FIELD);
  if (ticks < 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return -1;
  return MAX(0, now.tv_sec - ticks / sysconf(_SC_CLK_TCK));
}
