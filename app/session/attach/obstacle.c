/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/obstacle.h"

#include "app/common/process_facts.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"
#define CAP_SYS_PTRACE 19

/* The words behind "Name:" in the process's status. */
static char *
dup_status(pid_t pid, const char *name) {
  g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)pid);
  g_autofree char *bytes = NULL;
  if (!g_file_get_contents(path, &bytes, NULL, NULL)) return NULL;
  g_auto(GStrv) lines = g_strsplit(bytes, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix(lines[i], name)) return g_strdup(g_strstrip(lines[i] + strlen(name)));
  return NULL;
}

static bool
may_trace_all(void) {
  g_autofree char *rights = dup_status(getpid(), "CapEff:");
  return rights && g_ascii_strtoull(rights, NULL, 16) & (G_GUINT64_CONSTANT(1) << CAP_SYS_PTRACE);
}

static char *
find_tracer(pid_t pid) {
  g_autofree char *tracer = dup_status(pid, "TracerPid:");
  gint64 number = tracer ? g_ascii_strtoll(tracer, NULL, 10) : 0;
  if (number <= 0) return NULL;
  g_autofree char *command = td_process_dup_command((pid_t)number);
  return g_strdup_printf("process %d traces it already%s%s, and only one may", (int)number,
                         command ? ": " : "", command ? command : "");
}

char *
td_obstacle_find_stop(pid_t pid) {
  g_autofree char *state = dup_status(pid, "State:");
  if (!state || *state != 'T') return NULL;
  return g_strdup_printf("it is stopped, as by Ctrl+Z: `kill -CONT %d` lets it run on", (int)pid);
}

/* 0: one's own. 1: what one has started, and others with the right. 2: with the right. 3: nobody.
 */
static char *
find_scope(void) {
  g_autofree char *scope = NULL;
  if (!g_file_get_contents(PTRACE_SCOPE, &scope, NULL, NULL)) return NULL;
  gint64 number = g_ascii_strtoll(scope, NULL, 10);
  if (number == 0 || (number < 3 && may_trace_all())) return NULL;
  if (number >= 3)
    return g_strdup("this machine lets nobody look into a process until it starts again "
                    "(" PTRACE_SCOPE " is 3)");
  return g_strdup_printf("this machine lets only root look into a process (" PTRACE_SCOPE
                         " is %d): use sudo, or have root write 0 there",
                         (int)number);
}

char *
td_obstacle_find(pid_t pid) {
  char *found = find_tracer(pid);
  if (!found) found = td_obstacle_find_stop(pid);
  return found ? found : find_scope();
}
